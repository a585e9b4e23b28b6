import { changeId as changeIdOf, inputSha as inputShaOf } from '../../policy/contracts/change-id';
import { Sha256Hex, Submission, type Metadata } from '../../policy/contracts/diff';
import { digestMismatch, invalid, misconfigured } from '../../policy/contracts/failure';
import type { LedgerKind, LedgerRow } from '../../policy/contracts/ledger';
import type { Plan } from '../../policy/contracts/plan';

/** One change, as it was opened. */
export interface OpenedChange {
  readonly changeId: string;
  readonly tenant: string;
  readonly target: string;
  readonly sourceTool: string;
  readonly diffSha: string;
  readonly metadata: Metadata;
  readonly inputSha: string;
  readonly planHash: string;
}

/** Kinds of the rows that `openedChange` reads. */
export const OPENED_ROWS = ['submitted', 'planned'] as const satisfies readonly LedgerKind[];

/**
 * The change with this id, from its rows. The input of an activity names a change by its id only, because anyone who can schedule
 * activities chooses that input. Fails, without retry, with VALIDATION_ERROR if no change was opened under this id, and with
 * DIGEST_MISMATCH if the recorded submission is that of another change.
 */
export function openedChange(changeId: string, rows: readonly LedgerRow[]): OpenedChange {
  const bodyOf = (kind: (typeof OPENED_ROWS)[number]) => rows.find((row) => row.kind === kind)?.body;
  const submission = Submission.safeParse(bodyOf('submitted')?.['submission']);
  const planHash = Sha256Hex.safeParse(bodyOf('planned')?.['planHash']);
  if (!submission.success || !planHash.success)
    throw invalid(
      'changeId',
      'the id of a change that was opened',
      changeId,
      'Submit the change; its workflow opens it',
    );
  const recorded = changeIdOf(submission.data);
  if (recorded !== changeId) throw digestMismatch('the change id of the recorded submission', changeId, recorded);
  const { tenant, target, sourceTool, diffSha, metadata } = submission.data;
  const inputSha = inputShaOf(submission.data);
  return { changeId, tenant, target, sourceTool, diffSha, metadata, inputSha, planHash: planHash.data };
}

/** Fails with CONFIGURATION_ERROR, not retried, if the recorded plan is that of another target or source tool. */
export function assertPlanOf(
  { target, sourceTool }: Pick<OpenedChange, 'target' | 'sourceTool'>,
  plan: Pick<Plan, 'target' | 'sourceTool'>,
): void {
  if (plan.target === target && plan.sourceTool === sourceTool) return;
  throw misconfigured(
    `The plan is for ${plan.target}/${plan.sourceTool}, but the change is for ${target}/${sourceTool}`,
  );
}
