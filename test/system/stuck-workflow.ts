import { condition, upsertMemo, workflowInfo } from '@temporalio/workflow';

/** Waits for ever, and fails each task that it replays. A run that was reset ends at once if it `recovers`, and otherwise fails its task. */
export async function review({ recovers }: { readonly recovers: boolean }): Promise<void> {
  const { runId, firstExecutionRunId, unsafe } = workflowInfo();
  if (runId !== firstExecutionRunId) {
    if (recovers) return;
    throw new Error('A run that was reset fails its task');
  }
  if (unsafe.isReplaying) upsertMemo({ replayed: true });
  await condition(() => false, '1 day');
}
