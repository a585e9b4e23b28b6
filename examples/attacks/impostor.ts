import { bundleWorkflows, startWorker } from '../../dev/start-worker';
import type { Forged } from './fake-workflow';
import type { Testbed } from './testbed';

/** Replaces reviews by workflows of the attacker under the same ids, on a queue and with a worker of the attacker. */
export class Impostor {
  static #bundle: ReturnType<typeof bundleWorkflows> | null = null;

  private constructor(
    private readonly testbed: Testbed,
    private readonly queue: string,
    readonly stop: () => Promise<void>,
  ) {}

  static async start(testbed: Testbed): Promise<Impostor> {
    const { temporalAddress: address, namespace } = testbed.dev.runtime;
    const queue = `impostor-${process.pid}-${Date.now()}`;
    this.#bundle ??= bundleWorkflows(require.resolve('./fake-workflow'));
    const workflowBundle = await this.#bundle;
    const { stop } = await startWorker(address, { namespace, taskQueue: queue, workflowBundle });
    return new Impostor(testbed, queue, stop);
  }

  /** Terminates the review if it is open, and starts the fake under its id. */
  async replace(changeId: string, forged: Partial<Forged>): Promise<void> {
    const { workflow } = this.testbed.temporal;
    const handle = workflow.getHandle(changeId);
    const { status } = await handle.describe();
    if (status.name === 'RUNNING') await handle.terminate('maintenance');
    await workflow.start('review', {
      workflowId: changeId,
      taskQueue: this.queue,
      args: [{ status: null, replies: {}, outcome: null, ...forged }],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
  }

  /** The messages that the fake received. */
  async received(changeId: string): Promise<readonly unknown[]> {
    return await this.testbed.temporal.workflow.getHandle(changeId).query<unknown[]>('received');
  }
}
