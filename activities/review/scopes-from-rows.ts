/** What answers and withdrawals are compared with, by ledger rows and the pinned plan only. */
import type { LedgerKind } from '../../policy/contracts/ledger';
import type { StoredRow } from '../../policy/evidence/chain';
import { answerScopeOf, type AnswerScope } from '../../signing/assess-answer';
import type { PlanSource } from '../../storage/plans/plan-source';
import { requesterIn, rowOf, submissionIn, violationsIn } from '../rows';
import { OPENED_ROWS } from './opened-change';
import { Sha256Hex } from '../../policy/contracts/diff';
import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import type { Plan } from '../../policy/contracts/plan';
import type { Ledger } from '../../policy/evidence/ledger-port';
import { replacingChange, type WithdrawalScope } from '../../signing/assess-withdrawal';

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

interface WithdrawalSources {
  readonly ledger: Pick<Ledger, 'readKinds'>;
  readonly plans: Pick<PlanSource, 'byHash'>;
}

/**
 * What a withdrawal or supersession is compared with, by the rows OPENED_ROWS of the change, its pinned plan, and the opening of the change
 * that the message names. Null if the change was not opened.
 */
export async function withdrawalScopeFromRows(
  { ledger, plans }: WithdrawalSources,
  changeId: string,
  rows: readonly StoredRow[],
  { kind, message }: { readonly kind: 'withdraw' | 'supersede'; readonly message: unknown },
): Promise<WithdrawalScope | null> {
  const submission = submissionIn(rows);
  if (submission === null) return null;
  const by = Sha256Hex.safeParse(replacingChange(kind, message));
  const other = by.success ? submissionIn(await ledger.readKinds(by.data, ['submitted'])) : null;
  return { changeId, submission, plan: await planOf(plans, rows), other };
}

/** Null if the policy was revoked: the requester can still withdraw. */
async function planOf(plans: Pick<PlanSource, 'byHash'>, rows: readonly StoredRow[]): Promise<Plan | null> {
  const planHash = rowOf(rows, 'planned')?.body['planHash'];
  if (typeof planHash !== 'string') return null;
  try {
    return (await plans.byHash(planHash)).plan;
  } catch (error) {
    if (error instanceof CountersignFailure && error.type === FailureType.PolicyMoved) return null;
    throw error;
  }
}
