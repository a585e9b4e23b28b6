import type { LedgerKind } from '../../policy/contracts/ledger';
import type { StoredRow } from '../../policy/evidence/chain';
import { answerScopeOf } from '../../signing/answer-scope';
import type { AnswerScope } from '../../signing/judge-answer';
import type { PlanSource } from '../../storage/plans/plan-source';
import { requesterIn, rowOf, submissionIn, violationsIn } from '../rows';
import { OPENED_ROWS } from './opened-change';

/** Kinds of the rows that `answerScopeFromRows` reads. */
export const SCOPE_ROWS = [...OPENED_ROWS, 'disclosed'] as const satisfies readonly LedgerKind[];

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
  const planHash = rowOf(rows, 'planned')?.body['planHash'];
  const submission = submissionIn(rows);
  if (typeof planHash !== 'string' || submission === null) return null;
  const { plan } = await plans.byHash(planHash, 'ignored');
  const fingerprint = rowOf(rows, 'disclosed')?.body['fingerprint'];
  return answerScopeOf({
    changeId,
    submission,
    plan,
    fingerprint: typeof fingerprint === 'string' ? fingerprint : null,
    requester: requesterIn(rows),
    violations: violationsIn(rows),
  });
}
