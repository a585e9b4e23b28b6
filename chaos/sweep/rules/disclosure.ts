import { isCommitted, of, predicateOf, type Body, type Line, type Review, type Rule } from './review';

/** K3: what a committed review disclosed, and who answered. */
export const DISCLOSURE: readonly Rule[] = [
  notStopped,
  notRejected,
  notForbidden,
  allDisclosed,
  allTurnedIntoViolations,
  allAnswered,
].map(
  (rule): Rule =>
    (review) =>
      isCommitted(review) ? rule(review) : [],
);

/** A withdrawal ends a review, and no approver of a sweep takes an answer back. */
function notStopped({ lines }: Review): string[] {
  return of(lines, 'withdrawn', 'superseded', 'retracted').map(({ kind }) => `K3: committed despite a row ${kind}`);
}

/** Also a reject of another fingerprint, or one that was accepted after the intent. */
function notRejected({ lines }: Review): string[] {
  const rejects = of(lines, 'answer_accepted').filter(({ parsed }) => parsed['decision'] === 'reject');
  return rejects.length > 0 ? ['K3: committed despite a reject'] : [];
}

function notForbidden({ lines }: Review): string[] {
  const isForbidding = ({ parsed }: Line): boolean =>
    resultsIn(parsed['findings']).some((finding) => finding['class'] === 'SAFETY' && finding['status'] === 'BLOCK');
  return of(lines, 'findings', 'disclosed').some(isForbidding) ? ['K3: committed despite a SAFETY BLOCK'] : [];
}

/** If there are several results of one validator, the strictest counts, so each that fired must be disclosed. */
function allDisclosed({ lines, beforeSettlement }: Review): string[] {
  const [disclosed] = of(lines, 'disclosed');
  const shown = new Set(disclosed === undefined ? [] : firedIn(disclosed.parsed['findings']));
  const read = disclosed === undefined ? beforeSettlement : lines.slice(0, disclosed.n);
  const fired = new Set([
    ...of(read, 'findings').flatMap(({ parsed }) => firedIn(parsed['findings'])),
    ...of(read, 'attested').flatMap(({ parsed }) => {
      const { kind, result } = predicateOf(parsed['envelope']);
      // A callback answers a violation that is disclosed in any case.
      return kind === 'callback' ? [] : firedIn([result]);
    }),
  ]);
  return [...fired]
    .filter((id) => !shown.has(id))
    .map((id) => `K3: committed, but the finding of ${id} was not disclosed`);
}

/** A row `disclosed` has findings as objects, or an ALLOW as the id of its validator. */
function resultsIn(findings: unknown): Body[] {
  return (findings as readonly unknown[]).filter((f): f is Body => typeof f === 'object' && f !== null);
}

function firedIn(findings: unknown): string[] {
  return resultsIn(findings)
    .filter(({ status }) => status !== 'ALLOW')
    .map((finding) => String(finding['validator_id']));
}

const violationsIn = ({ lines }: Review): readonly Body[] =>
  of(lines, 'disclosed').flatMap(({ parsed }) => parsed['violations'] as readonly Body[]);

/** A SAFETY WARN is shown and asks no one. */
function allTurnedIntoViolations(review: Review): string[] {
  const named = new Set(violationsIn(review).map((violation) => violation['validatorId']));
  return of(review.lines, 'disclosed')
    .flatMap(({ parsed }) => resultsIn(parsed['findings']))
    .filter((finding) => finding['status'] !== 'ALLOW' && finding['class'] !== 'SAFETY')
    .map((finding) => String(finding['validator_id']))
    .filter((id) => !named.has(id))
    .map((id) => `K3: committed, but ${id} fired without a violation`);
}

function allAnswered(review: Review): string[] {
  return violationsIn(review).flatMap((violation) => {
    const validator = String(violation['validatorId']);
    switch (violation['need']) {
      case 'human':
        return confirmedByEnough(review, violation);
      case 'callback':
        return (violation['callbackResult'] as Body | null | undefined)?.['passed'] === true
          ? []
          : [`K3: committed, but the callback of ${validator} did not pass`];
      case 'hard':
        return ['K3: committed despite a hard block'];
      default:
        return [`K3: committed, but it is unknown who must answer ${validator}`];
    }
  });
}

/** Different people, none of them the requester if four eyes are demanded. */
function confirmedByEnough({ lines, beforeSettlement }: Review, violation: Body): string[] {
  const { quorum, violationId, fourEyes } = violation;
  if (!Number.isInteger(quorum) || Number(quorum) < 1)
    return [`K3: committed, but the violation of ${String(violation['validatorId'])} has no quorum`];
  const requester = fourEyes === true ? of(lines, 'submitted')[0]?.parsed['requester'] : undefined;
  const fingerprint = of(lines, 'disclosed')[0]?.parsed['fingerprint'];
  const confirms = of(beforeSettlement, 'answer_accepted')
    .map(({ parsed }) => parsed)
    .filter((answer) => answer['decision'] === 'confirm' && answer['violationId'] === violationId)
    .filter((answer) => answer['fingerprint'] === fingerprint && answer['person'] !== requester);
  const people = new Set(confirms.map(({ person }) => person)).size;
  return people < Number(quorum) ? [`K3: committed with ${people} of ${Number(quorum)} answers`] : [];
}
