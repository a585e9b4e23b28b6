/** One worker process of the baseline workflow: `node floor-worker.js review|judge|commit`. */
import { DefaultLogger, NativeConnection, Runtime, Worker, bundleWorkflowCode } from '@temporalio/worker';
import { TASK_QUEUES } from '../policy/contracts/queues';

export const FLOOR_SUFFIX = '-floor';

async function main(name: 'review' | 'judge' | 'commit'): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const connection = await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233' });
  const workflows =
    name === 'review'
      ? {
          workflowBundle: {
            code: (
              await bundleWorkflowCode({
                workflowsPath: require.resolve('./floor-workflows'),
                logger: new DefaultLogger('WARN'),
              })
            ).code,
          },
          workflowTaskPollerBehavior: { type: 'autoscaling' as const },
        }
      : {};
  const worker = await Worker.create({
    connection,
    namespace: process.env['TEMPORAL_NAMESPACE'] ?? 'default',
    taskQueue: TASK_QUEUES[name] + FLOOR_SUFFIX,
    activities: { nothing: async (input: object) => input },
    activityTaskPollerBehavior: { type: 'autoscaling' as const },
    ...workflows,
  });
  process.send?.('ready');
  await worker.run();
  await connection.close();
}

if (require.main === module) void main(process.argv[2] as 'review' | 'judge' | 'commit');
