import { Submission } from '../../policy/contracts/diff';
import { PolicyViolation } from '../../policy/contracts/violation';
import { misconfigured } from '../../policy/contracts/failure';
import type { LedgerKind, LedgerRow } from '../../policy/contracts/ledger';
import type { StoredRow } from '../../policy/evidence/chain';
import { answerScopeOf } from '../../signing/answer-scope';
import type { AnswerScope } from '../../signing/judge-answer';
import type { PlanSource } from '../../storage/plans/plan-source';

/** Kinds of the rows that `answerScopeFromRows` reads. */
export const SCOPE_ROWS = ['submitted', 'planned', 'disclosed'] as const satisfies readonly LedgerKind[];

/**
 * What answers are compared with, by the ledger rows of the change and its pinned plan only: a workflow may claim other group members
 * or that answers need no signature. Null if the change was not opened. A revoked plan still gives a scope, because a reject must
 * count; the committer refuses the commit.
 */
export async function answerScopeFromRows(
  plans: Pick<PlanSource, 'byHash'>,
  changeId: string,
  rows: readonly StoredRow[],
): Promise<AnswerScope | null> {
  const bodyOf = (kind: (typeof SCOPE_ROWS)[number]) => rows.find(({ row }) => row.kind === kind)?.row.body;
  const planHash = bodyOf('planned')?.['planHash'];
  const submission = Submission.safeParse(bodyOf('submitted')?.['submission']);
  if (typeof planHash !== 'string' || !submission.success) return null;
  const { plan } = await plans.byHash(planHash, 'ignored');
  const [disclosed, requester] = [bodyOf('disclosed'), bodyOf('submitted')?.['requester']];
  const fingerprint = disclosed?.['fingerprint'];
  return answerScopeOf({
    changeId,
    submission: submission.data,
    plan,
    fingerprint: typeof fingerprint === 'string' ? fingerprint : null,
    requester: typeof requester === 'string' ? requester : null,
    violations: violationsOf(disclosed),
  });
}

/** Fails with CONFIGURATION_ERROR, not retried, if the row cannot be read: then no answer counts. */
function violationsOf(disclosed: LedgerRow['body'] | undefined): readonly PolicyViolation[] {
  const parsed = PolicyViolation.array().safeParse(disclosed?.['violations'] ?? []);
  if (parsed.success) return parsed.data;
  throw misconfigured('The row `disclosed` of this change cannot be read; withdraw the change and submit it again');
}
