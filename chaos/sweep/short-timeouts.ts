/**
 * Loaded into the sweep's workflow bundle alone: a worker that was killed is missed after seconds instead of a minute, so
 * that a thousand crashes fit into minutes. Which activities are called, and in what order, stays as it is.
 */
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';

/** Both below HANG_MS, so that whoever hangs is given up first. An activity of ours beats every 4 s. */
const START_TO_CLOSE_MS = 9_000;
const HEARTBEAT_MS = 7_000;

export const interceptors: WorkflowInterceptorsFactory = () => ({
  outbound: [
    {
      scheduleActivity(input, next) {
        const { heartbeatTimeout, retry } = input.options;
        const options = {
          ...input.options,
          startToCloseTimeout: START_TO_CLOSE_MS,
          ...(heartbeatTimeout === undefined ? {} : { heartbeatTimeout: HEARTBEAT_MS }),
          retry: { ...retry, initialInterval: 200, maximumInterval: 2_000 },
        };
        return next({ ...input, options });
      },
    },
  ],
});
