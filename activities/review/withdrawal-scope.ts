import { Sha256Hex, Submission } from '../../policy/contracts/diff';
import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import type { LedgerKind } from '../../policy/contracts/ledger';
import type { Plan } from '../../policy/contracts/plan';
import type { StoredRow } from '../../policy/evidence/chain';
import type { Ledger } from '../../policy/evidence/ledger-port';
import { replacingChange, type WithdrawalScope } from '../../signing/judge-withdrawal';
import type { PlanSource } from '../../storage/plans/plan-source';

/** Kinds of the rows that `withdrawalScopeFromRows` reads. */
export const WITHDRAWAL_ROWS = ['submitted', 'planned'] as const satisfies readonly LedgerKind[];

export interface WithdrawalSources {
  readonly ledger: Pick<Ledger, 'readKinds'>;
  readonly plans: Pick<PlanSource, 'byHash'>;
}

/**
 * What a withdrawal or supersession is compared with, by the ledger rows of the change, its pinned plan, and the opening of the change
 * that the message names. Null if the change was not opened.
 */
export async function withdrawalScopeFromRows(
  { ledger, plans }: WithdrawalSources,
  changeId: string,
  rows: readonly StoredRow[],
  { kind, message }: { readonly kind: 'withdraw' | 'supersede'; readonly message: unknown },
): Promise<WithdrawalScope | null> {
  const submission = submissionOf(rows);
  if (submission === null) return null;
  const by = Sha256Hex.safeParse(replacingChange(kind, message));
  const other = by.success ? submissionOf(await ledger.readKinds(by.data, ['submitted'])) : null;
  return { changeId, submission, plan: await planOf(plans, rows), other };
}

/** Null if the policy was revoked: the requester can still withdraw. */
async function planOf(plans: Pick<PlanSource, 'byHash'>, rows: readonly StoredRow[]): Promise<Plan | null> {
  const planHash = rows.find(({ row }) => row.kind === 'planned')?.row.body['planHash'];
  if (typeof planHash !== 'string') return null;
  try {
    return (await plans.byHash(planHash)).plan;
  } catch (error) {
    if (error instanceof CountersignFailure && error.type === FailureType.PolicyMoved) return null;
    throw error;
  }
}

function submissionOf(rows: readonly StoredRow[]): Submission | null {
  return Submission.safeParse(rows.find(({ row }) => row.kind === 'submitted')?.row.body['submission']).data ?? null;
}
