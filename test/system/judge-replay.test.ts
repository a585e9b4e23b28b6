import { Worker } from '@temporalio/worker';
import { workerOptions } from '../../workers/run-worker';
import { useJudgedShop } from './judge-words';
import { CONCERN, update } from './scenarios';

const { judge, system } = useJudgedShop('judge-replay');

test('a review waits while the judge worker is down and continues when it is back', async () => {
  await system.stopWorker('judge');
  const { changeId, preflight } = await system.submit(
    update('update items set stock = stock + 1 where id = 9', 'items', 1),
  );
  expect(preflight).toMatchObject({ forbidden: false });
  expect((await system.countersign.status(changeId)).state).toBe('RUNNING');
  await system.startWorker('judge');
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED' });
});

test('a secret in a diff reaches neither the model nor the history, even if the judge quotes everything', async () => {
  const secret = ['sk_live_', 'Zk3Qw9xT7mN2pL5vB8rY4cD6'].join('');
  const { changeId } = await system.submit(
    update(`update items set name = '${secret} judge_concern' where id = 4`, 'items', 1),
  );
  await system.waiting(changeId);
  const bodies = judge.requests.map((request) => request.body).join('\n');
  expect(bodies).toContain('[SECRET:stripe:1]');
  expect(bodies).not.toContain(secret);
  const { events } = await system.temporal.workflow.getHandle(changeId).fetchHistory();
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString('utf8'));
    else if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  collect(events);
  // Envelopes contain their payload as base64.
  const decoded = texts.flatMap((text) => [
    text,
    ...[...text.matchAll(/[A-Za-z0-9+/]{40,}={0,2}/g)].map(([b64]) => Buffer.from(b64, 'base64').toString('utf8')),
  ]);
  expect(decoded.some((text) => text.includes('llm_judge'))).toBe(true);
  expect(decoded.filter((text) => text.includes(secret))).toEqual([]);
  judge.clear();
});

test('replay calls no model: without the judge, a new worker rebuilds byte-identical findings [G23]', async () => {
  const { changeId } = await system.submit(CONCERN);
  const before = await system.waiting(changeId);
  expect(before.findings).toContainEqual(
    expect.objectContaining({ validatorId: 'guardian.llm_judge', status: 'WARN' }),
  );
  const asked = judge.requests.length;
  expect(asked).toBe(1);
  await judge.stop();
  await system.stopWorker('judge');

  // A new worker rebuilds the state of the review from its history.
  await system.stopWorker('review');
  await system.startWorker('review');
  const after = await system.countersign.status(changeId);
  expect(JSON.stringify(after?.findings)).toBe(JSON.stringify(before.findings));
  expect(after?.fingerprint).toBe(before.fingerprint);

  const history = await system.temporal.workflow.getHandle(changeId).fetchHistory();
  const { workflowBundle } = await workerOptions({ taskQueue: 'none', activities: {}, workflows: true });
  await Worker.runReplayHistory(
    // The review derives its sibling queues from the name of its own queue.
    { workflowBundle: workflowBundle as NonNullable<typeof workflowBundle>, replayName: 'countersign-review' },
    history,
    changeId,
  );
  expect(judge.requests).toHaveLength(asked);
});
