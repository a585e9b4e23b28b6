/** One worker process of a floor: `node floor-worker.js review|judge|commit floor|fixedFloor`. */
import { activityInfo } from '@temporalio/activity';
import { DefaultLogger, NativeConnection, Runtime, Worker, bundleWorkflowCode } from '@temporalio/worker';
import { TASK_QUEUES, type WorkerRole } from '../policy/contracts/queues';
import { REVIEW_WORKER } from '../workers/run-worker';
import type { FloorNotice } from './floor-notices';
import type { FloorActivities } from './floor-workflow';

export const FLOOR_SUFFIX = '-floor';

const activities: FloorActivities = {
  nothing: async (input) => input,
  notify: async (what) => {
    const { workflowId = '' } = activityInfo().workflowExecution ?? {};
    process.send?.({ workflowId, what } satisfies FloorNotice);
  },
};

async function main(name: WorkerRole, type: string): Promise<void> {
  // The fixed floor never changes.
  const pollers = type === 'fixedFloor' ? ({ type: 'autoscaling' } as const) : REVIEW_WORKER.workflowTaskPollerBehavior;
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const connection = await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233' });
  const workflows =
    name === 'review'
      ? {
          workflowBundle: {
            code: (
              await bundleWorkflowCode({
                workflowsPath: require.resolve('./floor-workflow'),
                logger: new DefaultLogger('WARN'),
              })
            ).code,
          },
          workflowTaskPollerBehavior: pollers,
        }
      : {};
  const worker = await Worker.create({
    connection,
    namespace: process.env['TEMPORAL_NAMESPACE'] ?? 'default',
    taskQueue: TASK_QUEUES[name] + FLOOR_SUFFIX,
    activities,
    activityTaskPollerBehavior: pollers,
    ...workflows,
  });
  process.send?.('ready');
  await worker.run();
  await connection.close();
}

if (require.main === module) void main(process.argv[2] as WorkerRole, process.argv[3] ?? 'floor');
