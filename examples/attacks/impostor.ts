import { bundleWorkflows, startWorker } from '../../dev/start-worker';
import type { Forged } from './fake-workflow';
import type { Testbed } from './testbed';

let bundle: ReturnType<typeof bundleWorkflows> | null = null;

/** Runs `work` while a workflow of the attacker has the id of the review, on a queue and with a worker of the attacker. */
export async function withImpostor<T>(
  { dev, temporal: { workflow } }: Testbed,
  changeId: string,
  forged: Partial<Forged>,
  work: () => Promise<T>,
): Promise<T> {
  const { temporalAddress, namespace } = dev.runtime;
  const taskQueue = `impostor-${process.pid}-${Date.now()}`;
  const workflowBundle = await (bundle ??= bundleWorkflows(require.resolve('./fake-workflow')));
  const worker = await startWorker(temporalAddress, { namespace, taskQueue, workflowBundle });
  try {
    const handle = workflow.getHandle(changeId);
    const { status } = await handle.describe();
    if (status.name === 'RUNNING') await handle.terminate('maintenance');
    await workflow.start('review', {
      workflowId: changeId,
      taskQueue,
      args: [{ status: null, replies: {}, outcome: null, ...forged }],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
    return await work();
  } finally {
    await worker.stop();
  }
}
