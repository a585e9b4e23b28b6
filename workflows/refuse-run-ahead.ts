/**
 * Refuses an activation in which a query runs ahead of the workflow task (docs/decisions/0009).
 *
 * A query that does not come by the sticky queue brings the whole history, including events that no workflow task has delivered
 * yet. The SDK's core applies them, withholds the commands that follow, and keeps the run. If a message arrives before the workflow
 * task starts, a replay applies it in another order than the cached run did. The history then does not replay, or replays with
 * swapped results.
 *
 * Such an activation has jobs although no workflow task has started: the time and the size of the history are unchanged, while
 * its length has grown. An error here fails only the query and evicts the run, which the next workflow task replays in the right
 * order. In an activation of a workflow task, which is not expected to match, it would fail that task once: after the eviction
 * there is no earlier activation to compare with.
 *
 * Depends on an experimental interface: test/system/run-ahead.test.ts must pass with each version of the SDK.
 */
import type { ActivateInput, WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { RAN_AHEAD } from '../policy/contracts/messages';

export const interceptors: WorkflowInterceptorsFactory = () => {
  let last: { readonly at: string; readonly length: number } | null = null;
  return {
    internals: [
      {
        activate(input, next) {
          const { activation } = input;
          const jobs = activation.jobs ?? [];
          if (jobs.length > 0 && jobs.every((job) => job.queryWorkflow != null)) return next(input);
          const now = { at: placeOf(activation), length: Number(activation.historyLength) };
          if (last !== null && activation.isReplaying !== true && now.at === last.at && now.length > last.length)
            throw new Error(
              `${RAN_AHEAD}: the query brought events that no workflow task has delivered yet. Repeat the query`,
            );
          last = now;
          next(input);
        },
      },
    ],
  };
};

/** Moves with each workflow task that starts. */
function placeOf({ timestamp, historySizeBytes }: ActivateInput['activation']): string {
  return `${String(timestamp?.seconds)}.${timestamp?.nanos ?? 0}/${String(historySizeBytes)}`;
}
