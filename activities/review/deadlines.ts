/** What a review still waits for, by the rows of its opening and its disclosure. */
import type { AdmittedAnswer } from '../../policy/contracts/answer';
import { deadlineOf } from '../../policy/decide/counted-answers';
import { stillPending } from '../../policy/decide/decide';
import type { StoredRow } from '../../policy/evidence/chain';
import type { ProjectionPatch } from '../../policy/evidence/ledger-port';
import type { PlanSource } from '../../storage/plans/plan-source';
import { requesterIn, rowOf, violationsIn } from '../rows';

/** Ids of the violations of a change that can no longer be confirmed at this time, ISO 8601. Empty before the disclosure. */
export function pastDeadline(rows: readonly StoredRow[], at: string): ReadonlySet<string> {
  const disclosedAt = rowOf(rows, 'disclosed')?.at ?? at;
  const past = violationsIn(rows).filter(
    (violation) => violation.need === 'human' && deadlineOf(violation, disclosedAt) <= Date.parse(at),
  );
  return new Set(past.map(({ violationId }) => violationId));
}

/** For lists of reviews: how many violations still wait for a person after `answers`, and until when. */
export async function pendingAfter(
  plans: Pick<PlanSource, 'byHash'>,
  rows: readonly StoredRow[],
  answers: readonly AdmittedAnswer[],
  at: string,
): Promise<ProjectionPatch> {
  const { plan } = await plans.byHash(String(rowOf(rows, 'planned')?.body['planHash']), 'ignored');
  const { pending, nextDeadline } = stillPending({
    plan,
    violations: violationsIn(rows),
    answers,
    requester: requesterIn(rows),
    disclosedAt: rowOf(rows, 'disclosed')?.at ?? null,
    at,
  });
  return { pending: pending.length, deadlineAt: nextDeadline };
}
