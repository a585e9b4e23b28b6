import type { JudgeServer } from '../support/judge-server';
import { JUDGE_ENTRY, SHOP_SQL, shopBundle, shopExtension } from '../support/shop-bundle';
import { startSystem, type System } from '../support/system';
import { startWordJudge } from './judge-words';
import { update } from './scenarios';

let judge: JudgeServer;
let system: System;
let forbids: System;
/** Change id by trouble. All are begun at once: most of the time is spent between attempts. */
const begun = new Map<string, Promise<string>>();

const TROUBLES = [
  ['judge_hangs', 'a judge that hangs', /timeout/, 'judge_backend'],
  ['judge_garbage', 'a judge that answers prose', /could not answer/, 'judge_verdict_parse'],
  ['judge_429', 'a judge that is asked too often', /429/, 'judge_backend'],
  ['judge_500', 'a judge whose server fails', /500/, 'judge_backend'],
  ['judge_401', 'a judge that does not know us', /401/, 'judge_backend'],
  ['judge_resets', 'a judge that hangs up', /connection/, 'judge_backend'],
] as const;

const change = (id: number, word: string) =>
  update(`update items set stock = stock + 1 where id = ${id} /* ${word} */`, 'items', 1);
const stock = async (on: System, id: number): Promise<unknown> =>
  (await on.shop<{ stock: number }>('select stock from items where id = $1', [id]))[0]?.stock;

beforeAll(async () => {
  judge = await startWordJudge();
  const start = (name: string, settings: string, at: { readonly baseUrl: string }) =>
    startSystem({
      name,
      bundleText: shopBundle({ validators: JUDGE_ENTRY, settings }),
      extension: shopExtension,
      shopSql: SHOP_SQL,
      judge: at,
    });
  system = await start('judge', '', judge);
  // Nobody listens on this port.
  forbids = await start('judge-away', 'onJudgeFailure: forbid', { baseUrl: 'http://127.0.0.1:9/v1' });
  TROUBLES.forEach(([word], i) =>
    begun.set(
      word,
      system.submit(change(i + 1, word)).then(({ changeId }) => changeId),
    ),
  );
  begun.set(
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
  '%s: %s leads to an ERROR that a person answers, never to a commit by itself [T28]',
  async (word, _title, reason, reasonCode) => {
    const id = TROUBLES.findIndex(([w]) => w === word) + 1;
    const changeId = (await begun.get(word)) ?? '';
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

test('a judge that cannot be reached rolls back where the bundle forbids what it did not judge, and nobody is asked [T28]', async () => {
  const changeId = (await begun.get('refused')) ?? '';
  const ended = await forbids.ended(changeId);
  expect(ended).toMatchObject({ state: 'ROLLED_BACK', verified: true, outcome: { reason: 'forbidden' } });
  expect(ended.outcome.explanation).toContain('The judge could not answer');
  expect(await stock(forbids, 1)).toBe(10);
});

test('a judge worker that is away is waited for; the review goes on when it comes back', async () => {
  await system.stopWorker('judge');
  const { changeId, preflight } = await system.submit(change(9, 'plain'));
  expect(preflight).toMatchObject({ forbidden: false });
  expect((await system.countersign.status(changeId)).state).toBe('RUNNING');
  await system.startWorker('judge');
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED' });
});
