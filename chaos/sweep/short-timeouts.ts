/**
 * Part of the sweep's workflow bundle only. Shortens timeouts so that a killed worker is detected after seconds instead of a
 * minute, and a thousand crashes take minutes. Does not change which activities are called or in what order.
 */
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';

/** Both are below HANG_MS, so a hanging attempt times out before it resumes. Activities heartbeat every 4 s. */
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
