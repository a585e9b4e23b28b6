import { changeId as changeIdOf, inputSha as inputShaOf } from '../../policy/contracts/change-id';
import { Sha256Hex, type Metadata } from '../../policy/contracts/diff';
import { digestMismatch, invalid, misconfigured } from '../../policy/contracts/failure';
import type { LedgerKind } from '../../policy/contracts/ledger';
import type { Plan } from '../../policy/contracts/plan';
import type { StoredRow } from '../../policy/evidence/chain';
import type { LedgerReader } from '../../policy/evidence/ledger-port';
import { rowOf, submissionIn } from '../rows';

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
export function openedChange(changeId: string, rows: readonly StoredRow[]): OpenedChange {
  const submission = submissionIn(rows);
  const planHash = Sha256Hex.safeParse(rowOf(rows, 'planned')?.body['planHash']);
  if (submission === null || !planHash.success)
    throw invalid(
      'changeId',
      'the id of a change that was opened',
      changeId,
      'Submit the change; its workflow opens it',
    );
  const recorded = changeIdOf(submission);
  if (recorded !== changeId) throw digestMismatch('the change id of the recorded submission', changeId, recorded);
  const { tenant, target, sourceTool, diffSha, metadata } = submission;
  const inputSha = inputShaOf(submission);
  return { changeId, tenant, target, sourceTool, diffSha, metadata, inputSha, planHash: planHash.data };
}

/** Kinds of the rows that `isEnding` reads. */
export const ENDING_ROWS = ['intent', 'decided', 'receipt', 'closed'] as const satisfies readonly LedgerKind[];

/**
 * Whether the change ends or has ended. An activity that is scheduled after that, manually or by a reset workflow, must have no
 * effect; the ledger also refuses its rows.
 */
export function isEnding(rows: readonly StoredRow[]): boolean {
  return rows.some(({ row }) => ENDING_ROWS.some((ending) => ending === row.kind));
}

/** The change with this id. Fails as `openedChange`, and with VALIDATION_ERROR, not retried, if the change ends or has ended. */
export async function readOpenChange(ledger: Pick<LedgerReader, 'readKinds'>, changeId: string): Promise<OpenedChange> {
  const rows = await ledger.readKinds(changeId, [...OPENED_ROWS, ...ENDING_ROWS]);
  if (isEnding(rows))
    throw invalid('changeId', 'a change that is open', changeId, 'It ends or has ended, so nothing of it runs');
  return openedChange(changeId, rows);
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
