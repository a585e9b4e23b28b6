import { execFile } from 'node:child_process';
import { isDeepStrictEqual, promisify } from 'node:util';
import { NativeConnection, Worker } from '@temporalio/worker';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import { checkQueue } from '../../cli/doctor/temporal';
import { versioning, workerOptions } from '../../workers/run-worker';
import { eventually, retried } from '../support/eventually';
import { SHOP } from '../support/shop-bundle';
import { useSystem, workflowBundlePath } from '../support/system';
import { NARROW, waitingPrice } from './scenarios';

const run = promisify(execFile);
const system = useSystem({ ...SHOP, name: 'builds', workers: ['judge', 'commit'] });
let native: NativeConnection;
const workers: { worker: Worker; ended: Promise<void> }[] = [];
beforeAll(async () => {
  native = await NativeConnection.connect({ address: process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '' });
});
afterAll(async () => {
  for (const { worker } of workers) worker.shutdown();
  await Promise.all(workers.map(({ ended }) => ended));
  await native.close();
});

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
}

async function makeCurrent(buildId: string): Promise<void> {
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

/** What doctor says about the builds of the review queue. */
async function builds(): Promise<readonly unknown[]> {
  const checks = await checkQueue(system.temporal.connection, (work) => work(), namespace(), queue());
  return checks.slice(1).map(({ ok, detail }) => [ok, detail]);
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

test('a waiting review stays on its build, while new reviews start on the next build, and doctor says when they would wait', async () => {
  await startBuild('one');
  await eventually('doctor says that new reviews wait', async () =>
    isDeepStrictEqual(await builds(), [[false, 'no build is current; workers that poll: one; new reviews wait']]),
  );
  await makeCurrent('one');
  const first = await system.submit(waitingPrice(23));
  const status = await system.waiting(first.changeId);
  const ended = await system.submit(NARROW);
  await system.ended(ended.changeId);

  await startBuild('two');
  await makeCurrent('two');
  await eventually('doctor names the current build', async () =>
    isDeepStrictEqual(await builds(), [[true, 'the current build is two; workers that poll: one, two']]),
  );
  const second = await system.submit(waitingPrice(24));
  await system.waiting(second.changeId);
  expect(await buildOf(second.changeId)).toEqual({ build: 'two', behavior: PINNED });

  await system.countersign.answer(first.changeId, system.sign(status, 'alice', 'confirm'));
  expect((await system.ended(first.changeId)).state).toBe('COMMITTED');
  expect(await buildOf(first.changeId)).toEqual({ build: 'one', behavior: PINNED });
});
