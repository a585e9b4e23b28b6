import type { Client } from '@temporalio/client';
import { startWorker } from '../../dev/start-worker';
import { temporalEnv } from '../support/system-env';
import type { CommitDeps } from '../../activities/committer/commit-deps';
import { Reconciler } from '../../workers/reconciler/reconciler';
import { eventually } from '../support/eventually';
import { SHOP } from '../support/shop-bundle';
import { useSystem } from '../support/system';
import { testWorkflowBundle } from '../support/test-workflow-bundle';
import { NARROW } from './scenarios';

/** The workflows of two reviews that have ended are replaced by some that fail their task. */
const system = useSystem({ ...SHOP, name: 'after_end' });
let worker: Awaited<ReturnType<typeof startWorker>>;
beforeAll(async () => {
  worker = await startWorker(temporalEnv().TEMPORAL_ADDRESS, {
    namespace: system.temporal.options.namespace,
    taskQueue: `stuck${system.suffix}`,
    // Each task replays.
    maxCachedWorkflows: 0,
    workflowBundle: await testWorkflowBundle(),
  });
});
afterAll(() => worker.stop());

/** A client of a server that lists nothing: this one lists the runs that were replaced as ended. */
function withoutLists(client: Client): Client {
  const { workflowService } = client;
  const silent = {
    describeWorkflowExecution: workflowService.describeWorkflowExecution.bind(workflowService),
    describeTaskQueue: workflowService.describeTaskQueue.bind(workflowService),
    getWorkflowExecutionHistory: workflowService.getWorkflowExecutionHistory.bind(workflowService),
    resetWorkflowExecution: workflowService.resetWorkflowExecution.bind(workflowService),
    listWorkflowExecutions: async () => ({ executions: [] }),
  };
  const withDeadline = client.withDeadline.bind(client);
  return {
    options: client.options,
    workflow: client.workflow,
    workflowService: silent,
    withDeadline,
  } as unknown as Client;
}

test('a workflow that fails its task after its review ended is reset, and terminated if that does not help; the outcome stays', async () => {
  const ended = async (submitted: { readonly changeId: string }): Promise<string> => {
    await system.ended(submitted.changeId);
    // The ledger has the end before the workflow completes, and its id can be used again only then.
    await system.temporal.workflow.getHandle(submitted.changeId).result();
    return submitted.changeId;
  };
  const recovers = await ended(await system.submit(NARROW));
  const stays = await ended(
    await system.submit({ ...NARROW, raw: String(NARROW.raw).replace('where id = 1', 'where id = 2') }),
  );
  for (const workflowId of [recovers, stays]) {
    const handle = await system.temporal.workflow.start('review', {
      workflowId,
      taskQueue: `stuck${system.suffix}`,
      args: [{ recovers: workflowId === recovers }],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
    await eventually('its first task is completed', async () => (await handle.describe()).historyLength > 4);
    await handle.signal('wake');
  }
  const { commit } = system.resources;
  const counted: string[] = [];
  const reconciler = new Reconciler({
    db: commit.db,
    deps: commit as unknown as CommitDeps,
    temporal: withoutLists(system.temporal),
    graceMs: 2_000,
    logger: { info: () => {}, warn: () => {}, error: () => {} },
    count: ({ found, did }) => void counted.push(`${found} ${did}`),
  });
  const status = async (id: string) => (await system.temporal.workflow.getHandle(id).describe()).status.name;
  await eventually(
    'both workflows have ended',
    async () => {
      await reconciler.pass();
      return (await status(recovers)) === 'COMPLETED' && (await status(stays)) === 'TERMINATED';
    },
    { withinMs: 120_000, everyMs: 1_000 },
  );
  const repairs = async (changeId: string) =>
    (await commit.ledger.readKinds(changeId, ['head', 'repaired'])).map(({ row }) => row.body['did'] ?? row.kind);
  expect(await repairs(recovers)).toEqual(['head', 'reset']);
  expect((await repairs(stays)).slice(0, 2)).toEqual(['head', 'reset']);
  expect((await repairs(stays)).at(-1)).toBe('terminated');
  for (const id of [recovers, stays])
    expect(await system.countersign.result(id)).toMatchObject({ state: 'COMMITTED', verified: true });
  expect(counted.filter((each) => each.endsWith('failed'))).toEqual([]);
});
