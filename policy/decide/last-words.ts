import type { AdmittedAnswer } from '../contracts/answer';

/**
 * The answers that count: at most one for each person and violation. The order of `answers` has no influence.
 *
 * L1 A reject is final: nothing that the same person signs later takes it back.
 * L2 Otherwise the answer with the latest `issuedAt` counts. At the same time a retraction counts before a confirmation.
 * L3 A confirmation that a retraction names never counts, regardless of the clocks of the two signers.
 * L4 A retraction itself decides nothing: the violation waits again.
 */
export function lastWords(answers: readonly AdmittedAnswer[]): readonly AdmittedAnswer[] {
  const places = new Map<string, AdmittedAnswer[]>();
  for (const answer of answers) {
    const place = `${answer.violationId} ${answer.person}`;
    places.set(place, [...(places.get(place) ?? []), answer]);
  }
  return [...places.values()].flatMap((given) => lastWord(given) ?? []);
}

/** The answer of one person to one violation that counts; null if a retraction took it back. */
function lastWord(given: readonly AdmittedAnswer[]): AdmittedAnswer | null {
  const rejects = given.filter(({ decision }) => decision === 'reject');
  if (rejects.length > 0) return rejects.reduce(earlier);
  const retracts = given.filter(({ decision }) => decision === 'retract');
  const retracted = new Set(retracts.map((answer) => answer.retracts));
  const confirms = given.filter(
    (answer) =>
      answer.decision === 'confirm' &&
      !retracted.has(answer.digest) &&
      retracts.every((retract) => Date.parse(retract.issuedAt) < Date.parse(answer.issuedAt)),
  );
  return confirms.length === 0 ? null : confirms.reduce((a, b) => (earlier(a, b) === a ? b : a));
}

/** By the signed time; of two with the same time, by digest, so that the order of the answers has no influence. */
function earlier(a: AdmittedAnswer, b: AdmittedAnswer): AdmittedAnswer {
  const [timeA, timeB] = [Date.parse(a.issuedAt), Date.parse(b.issuedAt)];
  if (timeA !== timeB) return timeA < timeB ? a : b;
  return a.digest < b.digest ? a : b;
}
