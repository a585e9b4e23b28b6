import { judgeEntry, SHOP, shopBundle } from '../support/shop-bundle';
import { useSystem, type System } from '../support/system';
import { useWordJudge } from './judge-words';
import { update } from './scenarios';

const use = (name: string, settings: string, judge: { readonly baseUrl: string }): System =>
  useSystem({ ...SHOP, name, bundleText: shopBundle({ validators: judgeEntry(2_000), settings }), judge });
const system = use('judge', '', useWordJudge());
// No server listens on this port.
const forbids = use('judge-away', 'onJudgeFailure: forbid', { baseUrl: 'http://127.0.0.1:9/v1' });

const change = (id: number, word: string) =>
  update(`update items set stock = stock + 1 where id = ${id} /* ${word} */`, 'items', 1);
const stock = async (on: System, id: number): Promise<unknown> =>
  (await on.shop<{ stock: number }>('select stock from items where id = $1', [id]))[0]?.stock;

test('a judge that hangs leads to an ERROR that a person must answer, never to a commit without approval [T28]', async () => {
  const { changeId } = await system.submit(change(1, 'judge_hangs'));
  const status = await system.waiting(changeId);
  const finding = status.findings.find((f) => f.validatorId === 'guardian.llm_judge');
  expect(finding).toMatchObject({
    status: 'BLOCK',
    errorClass: 'ErrValidatorBackend',
    reasonCode: 'judge_backend',
    reason: expect.stringContaining('timeout') as string,
  });
  expect(await stock(system, 1)).toBe(10);
  await system.answer(changeId, 'alice', 'confirm');
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
  expect(await stock(system, 1)).toBe(11);
});

test('with onJudgeFailure: forbid, an unreachable judge rolls the change back without asking a person [T28]', async () => {
  const { changeId } = await forbids.submit(change(1, 'plain'));
  const ended = await forbids.ended(changeId);
  expect(ended).toMatchObject({ state: 'ROLLED_BACK', verified: true, outcome: { reason: 'forbidden' } });
  expect(ended.outcome.explanation).toContain('The judge could not answer');
  expect(await stock(forbids, 1)).toBe(10);
});
