import type { AdmittedAnswer } from '../../policy/contracts/answer';
import { PolicyViolation } from '../../policy/contracts/violation';
import { stillPending } from '../../policy/decide/decide';
import type { StoredRow } from '../../policy/evidence/chain';
import type { ProjectionPatch } from '../../policy/evidence/ledger-port';
import type { PlanSource } from '../../storage/plans/plan-source';

/** For lists of reviews: how many violations still wait for a person after `answers`, and until when. */
export async function pendingAfter(
  plans: Pick<PlanSource, 'byHash'>,
  rows: readonly StoredRow[],
  answers: readonly AdmittedAnswer[],
  at: string,
): Promise<ProjectionPatch> {
  const rowOf = (kind: string): StoredRow['row'] | undefined => rows.find(({ row }) => row.kind === kind)?.row;
  const [planned, disclosed, requester] = [rowOf('planned'), rowOf('disclosed'), rowOf('submitted')?.body['requester']];
  const { plan } = await plans.byHash(String(planned?.body['planHash']), 'ignored');
  const { pending, nextDeadline } = stillPending({
    plan,
    violations: PolicyViolation.array().parse(disclosed?.body['violations'] ?? []),
    answers,
    requester: typeof requester === 'string' ? requester : null,
    disclosedAt: disclosed?.at ?? null,
    at,
  });
  return { pending: pending.length, deadlineAt: nextDeadline };
}
