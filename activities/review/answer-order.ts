import { admittedIn, type AdmittedAnswer, type RecordedAnswer } from '../../policy/contracts/answer';
import { lastWords } from '../../policy/decide/last-words';
import type { CountedAnswer, RefusedAnswer } from '../../signing/assess-answer';

/** The answer that counts of this person already has this decision, so a second row would change nothing. */
export interface RepeatedAnswer {
  readonly code: 'duplicate';
  readonly violationId: string;
  readonly recorded: AdmittedAnswer;
}

/**
 * Compares a valid answer with those that the ledger has of the same person on the same violation. The latest `issuedAt` counts: an
 * older answer that arrives later is refused, and so is a confirmation that was taken back, and everything after a reject. `rows`: the
 * admitted answers of the change.
 */
function afterOthers(
  answer: CountedAnswer,
  rows: readonly RecordedAnswer[],
): CountedAnswer | RefusedAnswer | RepeatedAnswer {
  const { decision, person, violationId, fingerprint, digest, retracts } = answer;
  const refuse = (code: RefusedAnswer['code'], message: string): RefusedAnswer => ({ code, message, violationId });
  const own = rows.flatMap((row) => {
    const admitted = admittedIn(row);
    return admitted?.person === person && admitted.violationId === violationId && admitted.signed === answer.signed
      ? [admitted]
      : [];
  });
  // On any fingerprint: a reject remains valid after a reset of the workflow.
  if (decision !== 'reject' && own.some((other) => other.decision === 'reject'))
    return refuse('contradicts', `"${person}" has already rejected this violation; a reject cannot be undone`);
  const given = own.filter((other) => other.fingerprint === fingerprint);
  const others = given.filter((other) => other.digest !== digest);
  const later = others.find((other) => other.digest !== retracts && isLater(other, answer));
  const [counts] = lastWords(given);
  if (decision === 'confirm' && given.some((other) => other.retracts === digest))
    return refuse('superseded', takenBack(answer));
  if (later !== undefined && (counts?.decision !== decision || decision === 'retract'))
    return refuse('superseded', `"${person}" signed a later answer, "${later.decision}", at ${later.issuedAt}`);
  // The same answer again is left to its row.
  if (given.length > others.length) return answer;
  if (counts !== undefined && counts.decision === decision) return { code: 'duplicate', violationId, recorded: counts };
  if (decision !== 'retract') return answer;
  const recorded = others.find((other) => other.decision === 'retract' && other.retracts === retracts);
  if (recorded !== undefined) return { code: 'duplicate', violationId, recorded };
  return others.some((other) => other.decision === 'confirm' && other.digest === retracts)
    ? answer
    : refuse('nothing_to_retract', `"${person}" has not confirmed this violation with an answer of that digest`);
}

/**
 * As `afterOthers`, but also compares with `before`: the answers of the same message that were assessed first. They have no rows yet,
 * so none of them is returned as recorded.
 */
export function afterMessage(
  answer: CountedAnswer,
  rows: readonly RecordedAnswer[],
  before: readonly RecordedAnswer[],
): CountedAnswer | RefusedAnswer | RepeatedAnswer {
  const recorded = afterOthers(answer, rows);
  if (before.length === 0 || recorded.code === 'duplicate') return recorded;
  const assessed = afterOthers(answer, [...rows, ...before]);
  return assessed.code === 'duplicate' ? answer : assessed;
}

const ORDER = { reject: 0, confirm: 1, retract: 2 } as const;

/**
 * The order in which the answers of one message are assessed, as indexes: a confirmation after a reject, which is final, and before a
 * retraction, which can only take back an answer that was given. The order in the message has no influence.
 */
export function assessingOrder(decisions: readonly (keyof typeof ORDER | null)[]): readonly number[] {
  const place = (i: number): number => ORDER[decisions[i] ?? 'reject'];
  return decisions.map((_, i) => i).sort((a, b) => place(a) - place(b));
}

/** Without a nonce the same words are the same answer, so they cannot be given again after they were taken back. */
function takenBack({ person, signed }: CountedAnswer): string {
  return signed
    ? `"${person}" retracted this answer; sign a new one`
    : `"${person}" retracted this answer, and an unsigned answer with the same reason is the same one; give another reason, or sign the answer`;
}

/** Of two answers with the same time, a confirmation is the one that does not count. */
function isLater(other: AdmittedAnswer, answer: CountedAnswer): boolean {
  const [theirs, mine] = [Date.parse(other.issuedAt), Date.parse(answer.issuedAt)];
  return answer.decision === 'confirm' ? theirs >= mine : theirs > mine;
}
