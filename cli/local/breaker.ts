import { userInfo } from 'node:os';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { BreakerAdmin, ListedBreakers } from '../deps';
import { CountersignError } from '../../client/errors';
import { toTrouble } from '../../client/temporal-errors';
import {
  BREAKER_MESSAGES,
  BREAKER_WORKFLOW,
  breakerWorkflowId,
  type BreakersReading,
  type ReadArgument,
  type ResetMessage,
  type ResetResult,
} from '../../policy/decide/breaker-messages';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import type { Env } from '../../workers/config';
import { localClient } from '../../workers/local-client';
import { openClient } from '../../workers/temporal';

/** One page of pairs is enough: there is one workflow for each tenant and source tool. */
const MAX_PAIRS = 1_000;
const PATIENCE_MS = 5_000;

/** The breaker workflows, through Temporal alone. */
export function breakerAdmin(env: Env): BreakerAdmin {
  const local = localClient(env);
  const temporal = openClient({ ...env, TEMPORAL_ADDRESS: local.temporalAddress, TEMPORAL_NAMESPACE: local.namespace });
  const taskQueue = TASK_QUEUES.review + (env['COUNTERSIGN_QUEUE_SUFFIX'] ?? '');
  const within = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await temporal.withDeadline(Date.now() + PATIENCE_MS, call);
    } catch (error) {
      throw complaint(error);
    }
  };
  return {
    async list() {
      const prefix = breakerWorkflowId({ tenant: '', sourceTool: '' }, taskQueue).slice(0, -1);
      const ids = await within(async () => {
        const found: string[] = [];
        const query = `WorkflowType = '${BREAKER_WORKFLOW}' AND ExecutionStatus = 'Running'`;
        for await (const { workflowId } of temporal.workflow.list({ query, pageSize: MAX_PAIRS })) {
          if (workflowId.startsWith(prefix)) found.push(workflowId);
          if (found.length >= MAX_PAIRS) break;
        }
        return found.sort();
      });
      const listed: ListedBreakers[] = [];
      for (const id of ids) {
        const handle = temporal.workflow.getHandle(id);
        listed.push(await within(() => handle.query<BreakersReading, [ReadArgument]>(BREAKER_MESSAGES.read, 'all')));
      }
      return listed;
    },
    async reset({ tenant, sourceTool, validatorId, actor, reason }) {
      const handle = temporal.workflow.getHandle(breakerWorkflowId({ tenant, sourceTool }, taskQueue));
      const message = { validatorId, actor: actor ?? userInfo().username, reason };
      const result = await within(() =>
        handle.executeUpdate<ResetResult, [ResetMessage]>(BREAKER_MESSAGES.reset, { args: [message] }),
      );
      if (result.code === 'malformed') throw new CountersignError('invalid_input', result.message);
      return result.reset;
    },
    close: () => temporal.connection.close(),
  };
}

function complaint(error: unknown): CountersignError {
  if (error instanceof WorkflowNotFoundError)
    return new CountersignError('not_found', 'No breaker: no review of this tenant and source tool has ended yet', {
      cause: error,
    });
  const trouble = toTrouble(error);
  const message = 'message' in trouble ? trouble.message : 'No answer';
  const code = trouble.kind === 'no_worker' ? 'worker_unavailable' : 'temporal_unavailable';
  return new CountersignError(code, `The breakers could not be reached: ${message}`, { cause: error });
}
