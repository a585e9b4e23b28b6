import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { NativeConnection, Worker } from '@temporalio/worker';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import { versioning, workerOptions } from '../../workers/run-worker';
import { retried } from '../support/eventually';
import { SHOP } from '../support/shop-bundle';
import { startSystem, workflowBundlePath, type System } from '../support/system';
import { NARROW, waitingPrice } from './scenarios';

const run = promisify(execFile);
let system: System;
let native: NativeConnection;
const workers: { worker: Worker; ended: Promise<void> }[] = [];
beforeAll(async () => {
  system = await startSystem({ ...SHOP, name: 'builds', workers: ['judge', 'commit'] });
  native = await NativeConnection.connect({ address: process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '' });
}, 120_000);
afterAll(async () => {
  for (const { worker } of workers) worker.shutdown();
  await Promise.all(workers.map(({ ended }) => ended));
  await native.close();
  await system.close();
});
jest.setTimeout(120_000);

const namespace = (): string => process.env['COUNTERSIGN_TEST_NAMESPACE'] ?? 'default';
const queue = (): string => TASK_QUEUES.review + system.suffix;

async function startBuild(buildId: string): Promise<void> {
  const worker = await Worker.create({
    ...(await workerOptions({ taskQueue: queue(), activities: system.activities.review, workflows: false })),
    workflowBundle: { codePath: workflowBundlePath() },
    ...versioning(queue(), buildId),
    connection: native,
    namespace: namespace(),
  });
  workers.push({ worker, ended: worker.run() });
  const address = process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '';
  const named = ['--deployment-name', queue(), '--build-id', buildId, '--address', address, '--namespace', namespace()];
  const cli = process.env['COUNTERSIGN_TEST_CLI'] ?? '';
  // The server registers a build at its first poll.
  const setCurrent = ['worker', 'deployment', 'set-current-version', ...named, '--yes'];
  await retried(
    () => run(cli, setCurrent, { timeout: 20_000 }),
    () => true,
    { withinMs: 60_000 },
  );
}

/** The workflow's build and versioning behavior, as the server reports them. */
async function buildOf(
  workflowId: string,
): Promise<{ build: string | undefined; behavior: number | null | undefined }> {
  const { workflowExecutionInfo } = await system.temporal.workflowService.describeWorkflowExecution({
    namespace: namespace(),
    execution: { workflowId },
  });
  const versions = workflowExecutionInfo?.versioningInfo;
  return { build: versions?.deploymentVersion?.buildId ?? undefined, behavior: versions?.behavior };
}
const PINNED = 1;

test('a waiting review stays on its build, while new reviews start on the next build', async () => {
  await startBuild('one');
  const first = await system.submit(waitingPrice(23));
  const status = await system.waiting(first.changeId);
  const ended = await system.submit(NARROW);
  await system.ended(ended.changeId);

  await startBuild('two');
  const second = await system.submit(waitingPrice(24));
  await system.waiting(second.changeId);
  expect(await buildOf(second.changeId)).toEqual({ build: 'two', behavior: PINNED });

  await system.countersign.answer(first.changeId, system.sign(status, 'alice', 'confirm'));
  expect((await system.ended(first.changeId)).state).toBe('COMMITTED');
  expect(await buildOf(first.changeId)).toEqual({ build: 'one', behavior: PINNED });
});
