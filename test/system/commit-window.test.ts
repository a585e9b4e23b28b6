import { SHOP, shopBundle } from '../support/shop-bundle';
import { useSystem } from '../support/system';
import { update } from './scenarios';

/** By change id: whether each attempt of `commit` fails before or after its effect. */
const failing = new Map<string, 'before' | 'after'>();
type Commit = (input: { readonly changeId: string }) => Promise<unknown>;

const system = useSystem({
  ...SHOP,
  name: 'window',
  bundleText: shopBundle({ settings: 'commitWindow: 12s' }),
  wrap: (worker, activities) => {
    if (worker !== 'commit') return activities;
    const { commit } = activities as { readonly commit: Commit };
    const failingCommit: Commit = async (input) => {
      const when = failing.get(input.changeId);
      if (when !== 'before') await commit(input);
      throw new Error(`Injected failure ${when ?? 'without a configured point'}`);
    };
    return { ...activities, commit: failingCommit };
  },
});

const CASES = [
  ['before', 1, 'ROLLED_BACK', 500],
  ['after', 2, 'COMMITTED', 501],
] as const;
const confirmed: Promise<string>[] = [];
// Concurrently, because each waits for the end of its window.
beforeAll(() => {
  for (const [when, id] of CASES) confirmed.push(confirm(when, id));
});

async function confirm(when: 'before' | 'after', id: number): Promise<string> {
  const change = {
    ...update(`update prices set cents = cents + 1 where id = ${id}`, 'prices', 1),
    target: 'shop',
    requestKey: system.suffix,
  };
  const { changeId } = system.countersign.prepare(change);
  failing.set(changeId, when);
  await system.countersign.submit(change);
  await system.answer(changeId, 'bob', 'confirm');
  return changeId;
}

test.each(CASES)(
  'if every commit attempt fails %s its effect until the commit window ends, the marker decides the outcome, once [T65]',
  async (_when, id, state, price) => {
    const changeId = (await confirmed[id - 1]) ?? '';
    await expect(system.ended(changeId)).resolves.toMatchObject({
      state,
      verified: true,
      outcome: { reason: state === 'COMMITTED' ? null : 'commit_failed' },
    });
    expect(await system.shop('select cents from prices where id = $1', [id])).toEqual([{ cents: price }]);
    expect((await system.ledger(changeId)).filter(({ row }) => row.kind === 'receipt')).toHaveLength(1);
  },
);
