/**
 * Gives each activity the tenant of the change as its fairness key, so that a server with `matching.enableFairness` hands out the
 * tasks of tenants in turn, and one that submits very many changes does not delay the others. A server without it ignores the key.
 *
 * The key comes from the signed submission and not from the priority of the workflow, which any client with access to the namespace
 * can choose.
 */
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { Name } from '../policy/contracts/diff';

export const interceptors: WorkflowInterceptorsFactory = () => {
  let tenant: string | undefined;
  return {
    inbound: [
      {
        execute(input, next) {
          const [submission] = input.args as readonly ({ readonly tenant?: unknown } | null | undefined)[];
          // A submission without a valid tenant is refused by the workflow.
          tenant = Name.safeParse(submission?.tenant).data;
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity(input, next) {
          if (tenant === undefined) return next(input);
          return next({ ...input, options: { ...input.options, priority: { fairnessKey: tenant } } });
        },
      },
    ],
  };
};
