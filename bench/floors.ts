import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { type Client, type WorkflowHandle, WithStartWorkflowOperation } from '@temporalio/client';
import { exited } from '../dev/embedded/processes';
import type { Dev } from '../dev/start';
import { TASK_QUEUES, WORKER_ROLES, type WorkerRole } from '../policy/contracts/queues';
import { figures, type Figures } from './figures';
import { FloorNotices } from './floor-notices';
import { FLOOR_SUFFIX } from './floor-worker';

interface Count {
  readonly total: number;
  readonly open: number;
}

interface Floor {
  /** Type of the workflow. */
  readonly type: string;
  readonly workers: readonly WorkerRole[];
  readonly payload: object;
  /** Waits until the workflow asks for answers. */
  readonly waiting: (handle: WorkflowHandle, notices: FloorNotices) => Promise<unknown>;
  readonly ended: (handle: WorkflowHandle, notices: FloorNotices) => Promise<unknown>;
}

/**
 * The floor of equal shape (floor-workflow.ts): as many activities, local activities and messages as a review, which do nothing. The
 * client waits as for a review: it looks for the disclosure every 250 ms, and at the end asks Temporal once and awaits a notice.
 */
export async function measureFloor(dev: Dev, temporal: Client, count: Count): Promise<Figures> {
  return await measure(dev, temporal, count, {
    type: 'floor',
    workers: WORKER_ROLES,
    payload: { n: 1 },
    waiting: ({ workflowId }, notices) => notices.seen('waits', workflowId),
    async ended(handle, notices) {
      await handle.describe();
      await notices.until('ended', handle.workflowId);
    },
  });
}

/** The fixed floor, which is the same in all versions. */
export async function measureFixedFloor(dev: Dev, temporal: Client, count: Count): Promise<Figures> {
  const payload = { filling: 'x'.repeat(80) };
  return await measure(dev, temporal, count, {
    type: 'fixedFloor',
    workers: ['review'],
    payload,
    waiting: (handle) => handle.executeUpdate('waiting'),
    ended: (handle) => handle.result(),
  });
}

async function measure(dev: Dev, temporal: Client, count: Count, floor: Floor): Promise<Figures> {
  const { type, payload } = floor;
  const workers = await Promise.all(floor.workers.map((name) => startFloorWorker(dev, name, type)));
  const notices = new FloorNotices();
  for (const worker of workers) notices.listenTo(worker);
  const times = { preflight: [] as number[], commit: [] as number[] };
  let last = '';
  const run = Date.now().toString(36);
  const job = async (i: number): Promise<void> => {
    const began = performance.now();
    const workflowId = `${type}-${run}-${i}`;
    const handle = await submitted(temporal, type, workflowId, payload);
    times.preflight.push(performance.now() - began);
    await floor.waiting(handle, notices);
    await handle.executeUpdate('answer', { args: [payload] });
    await handle.executeUpdate('answer', { args: [payload] });
    const answered = performance.now();
    await floor.ended(handle, notices);
    times.commit.push(performance.now() - answered);
    last = workflowId;
  };
  try {
    return await figures({ temporal, job, times, last: () => last, pids: pidsOf(workers) }, count);
  } finally {
    for (const worker of workers) worker.kill('SIGTERM');
    await Promise.all(workers.map(exited));
  }
}

/** Starts a workflow with the update `submit`, as a client starts a review, and waits for its answer. */
async function submitted(temporal: Client, type: string, workflowId: string, input: object): Promise<WorkflowHandle> {
  const startWorkflowOperation = new WithStartWorkflowOperation(type, {
    workflowId,
    taskQueue: TASK_QUEUES.review + FLOOR_SUFFIX,
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  await temporal.workflow.executeUpdateWithStart('submit', { startWorkflowOperation });
  return temporal.workflow.getHandle(workflowId);
}

function pidsOf(workers: readonly ChildProcess[]): Record<string, number> {
  return Object.fromEntries(workers.map(({ pid }, i) => [WORKER_ROLES[i] ?? '', pid ?? 0]));
}

function startFloorWorker(dev: Dev, name: string, type: string): Promise<ChildProcess> {
  const child = fork(join(__dirname, 'floor-worker.js'), [name, type], {
    env: { ...process.env, TEMPORAL_ADDRESS: dev.runtime.temporalAddress, TEMPORAL_NAMESPACE: dev.runtime.namespace },
  });
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve(child));
    child.once('exit', (code) => reject(new Error(`The worker ${name} of the ${type} exited with ${code}`)));
  });
}
