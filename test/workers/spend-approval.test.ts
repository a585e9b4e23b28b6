import { ReviewWorld } from '../support/review/review-world';
import { spendApproval } from '../../workers/spend-approval';

const approved = async (): Promise<ReviewWorld> => {
  const world = await new ReviewWorld({ sourceTool: 'Refund' }).confirmed();
  expect(await world.commit()).toMatchObject({ state: 'COMMITTED', mode: 'cooperative' });
  return world;
};
const spend = ({ ledger, changeId, now }: ReviewWorld, nonce: string, keyId: string | null = null) =>
  spendApproval(ledger, () => now, { changeId, nonce, keyId });

test('the first nonce may use an approval, also if it asks again, and no other', async () => {
  const world = await approved();
  const asked = await Promise.all(['one', 'two', 'three'].map((nonce) => spend(world, nonce)));
  expect(asked.filter(({ spent }) => spent)).toHaveLength(1);
  const first = ['one', 'two', 'three'][asked.findIndex(({ spent }) => spent)] ?? '';
  expect(await spend(world, first)).toMatchObject({ spent: true });
  expect(await spend(world, 'four')).toMatchObject({ spent: false, message: expect.stringContaining('already used') });
  expect((await world.kinds()).filter((kind) => kind === 'spent')).toHaveLength(1);
});

test('only the key that submitted the change can use its approval through the gateway', async () => {
  const world = await approved();
  expect(await spend(world, 'one', world.keys.eve.keyId)).toMatchObject({ spent: false });
  expect(await spend(world, 'one', world.keys.service.keyId)).toMatchObject({ spent: true });
});

test.each<[string, () => Promise<ReviewWorld>]>([
  ['is not known', async () => new ReviewWorld({ sourceTool: 'Refund' })],
  ['is not decided', () => new ReviewWorld({ sourceTool: 'Refund' }).confirmed()],
  [
    'was committed by the committer itself',
    async () => {
      const world = await new ReviewWorld().confirmed();
      await world.commit();
      return world;
    },
  ],
])('nothing is spent for a change that %s', async (_what, make) => {
  const world = await make();
  expect(await spend(world, 'one')).toMatchObject({ spent: false });
  expect(await world.kinds()).not.toContain('spent');
});
