import type { JudgeServer } from '../support/judge-server';
import { JUDGE_ENTRY, SHOP, shopBundle } from '../support/shop-bundle';
import { startSystem, type System } from '../support/system';
import { startWordJudge } from './judge-words';
import { update } from './scenarios';

let judge: JudgeServer;
let system: System;
let forbids: System;
/** Change id by kind of failure. All reviews are submitted at once, because most of the time is spent between retries. */
const submitted = new Map<string, Promise<string>>();

const TROUBLES = [
  ['judge_hangs', 'a judge that hangs', /timeout/, 'judge_backend'],
  ['judge_garbage', 'a judge that answers with prose', /could not answer/, 'judge_verdict_parse'],
  ['judge_429', 'a judge that is rate limited', /429/, 'judge_backend'],
  ['judge_500', 'a judge whose server returns 500', /500/, 'judge_backend'],
  ['judge_401', 'a judge that rejects our API key', /401/, 'judge_backend'],
  ['judge_resets', 'a judge that resets the connection', /connection/, 'judge_backend'],
] as const;

const change = (id: number, word: string) =>
  update(`update items set stock = stock + 1 where id = ${id} /* ${word} */`, 'items', 1);
const stock = async (on: System, id: number): Promise<unknown> =>
  (await on.shop<{ stock: number }>('select stock from items where id = $1', [id]))[0]?.stock;

beforeAll(async () => {
  judge = await startWordJudge();
  const start = (name: string, settings: string, at: { readonly baseUrl: string }) =>
    startSystem({ ...SHOP, name, bundleText: shopBundle({ validators: JUDGE_ENTRY, settings }), judge: at });
  system = await start('judge', '', judge);
  // No server listens on this port.
  forbids = await start('judge-away', 'onJudgeFailure: forbid', { baseUrl: 'http://127.0.0.1:9/v1' });
  TROUBLES.forEach(([word], i) =>
    submitted.set(
      word,
      system.submit(change(i + 1, word)).then(({ changeId }) => changeId),
    ),
  );
  submitted.set(
    'refused',
    forbids.submit(change(1, 'plain')).then(({ changeId }) => changeId),
  );
}, 120_000);
afterAll(async () => {
  await system.close();
  await forbids.close();
  await judge.stop();
});
jest.setTimeout(120_000);

test.each(TROUBLES)(
  '%s: %s leads to an ERROR that a person must answer, never to a commit without approval [T28]',
  async (word, _title, reason, reasonCode) => {
    const id = TROUBLES.findIndex(([w]) => w === word) + 1;
    const changeId = (await submitted.get(word)) ?? '';
    const status = await system.waiting(changeId);
    const finding = status.findings.find((f) => f.validatorId === 'guardian.llm_judge');
    expect(finding).toMatchObject({ status: 'BLOCK', reasonCode, reason: expect.stringMatching(reason) as string });
    expect(finding?.errorClass).toBeDefined();
    expect(await stock(system, id)).toBe(10);
    await system.answer(changeId, 'alice', 'confirm');
    await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
    expect(await stock(system, id)).toBe(11);
  },
);

test('with onJudgeFailure: forbid, an unreachable judge rolls the change back without asking a person [T28]', async () => {
  const changeId = (await submitted.get('refused')) ?? '';
  const ended = await forbids.ended(changeId);
  expect(ended).toMatchObject({ state: 'ROLLED_BACK', verified: true, outcome: { reason: 'forbidden' } });
  expect(ended.outcome.explanation).toContain('The judge could not answer');
  expect(await stock(forbids, 1)).toBe(10);
});

test('a review waits while the judge worker is down and continues when it is back', async () => {
  await system.stopWorker('judge');
  const { changeId, preflight } = await system.submit(change(9, 'plain'));
  expect(preflight).toMatchObject({ forbidden: false });
  expect((await system.countersign.status(changeId)).state).toBe('RUNNING');
  await system.startWorker('judge');
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED' });
});
