import { recordResolution } from '../../../activities/committer/effect-resolution';
import type { CommitContext, CommitResult } from '../../../policy/contracts/target-effects';
import { targetUnavailable } from '../../../source-tools/target-failure';
import type { CommitReport } from '../../../activities/review-types';
import { failureType } from '../../support/review/failure-type';
import { SqlWorld } from '../../support/sql-world';
import { sqlDryRunEffects } from '../../../source-tools/sql/staging';
import { useTarget } from '../../source-tools/sql/staging/target-server';

const pg = useTarget(`
    create table items (id int primary key, n int not null);
    insert into items select g, 1 from generate_series(1, 9) g`);

const { commit } = sqlDryRunEffects;
type Attempt = (ctx: CommitContext, sleep: () => Promise<void>) => Promise<CommitResult>;

/** Resumes the attempts, so that a failing test leaves none suspended with an open session. */
const asleepNow: (() => void)[] = [];
afterEach(() => asleepNow.splice(0).forEach((wake) => wake()));

/** An attempt that is suspended at the given step, while this committer cannot reach the target. */
async function asleep(
  id: number,
  attempt: Attempt,
): Promise<{ readonly world: SqlWorld; readonly late: Promise<CommitReport>; readonly wake: () => void }> {
  const world = await new SqlWorld(pg, id).confirmed();
  let wake: () => void = () => {};
  const woken = new Promise<void>((resolve) => (wake = resolve));
  asleepNow.push(() => wake());
  const fell = new Promise<void>((fallen) => {
    world.committing = (ctx) =>
      attempt(ctx, () => {
        fallen();
        return woken;
      });
  });
  const late = world.commit();
  await fell;
  world.sealing = () => Promise.reject(targetUnavailable('shop', 'no route to it'));
  return { world, late, wake };
}

async function notApplied(world: SqlWorld): Promise<void> {
  const { changeId, ledger, keys } = world;
  const said = { changeId, target: 'shop', applied: false, reason: 'seen', resolvedAt: world.at() };
  await recordResolution(ledger, said, keys.operator);
}

const beforeItBegan: Attempt = async (ctx, sleep) => {
  await sleep();
  return commit(ctx);
};
const insideItsTransaction: Attempt = (ctx, sleep) =>
  commit({
    ...ctx,
    postCheck: async (record) => {
      const checked = (await ctx.postCheck?.(record)) ?? ({ ok: true } as const);
      await sleep();
      return checked;
    },
  });
const afterItHadAsked: Attempt = (ctx, sleep) =>
  commit({
    ...ctx,
    endedMeanwhile: async () => {
      const ended = (await ctx.endedMeanwhile?.()) ?? null;
      await sleep();
      return ended;
    },
  });

it.each([
  [1, 'before it began', beforeItBegan],
  [2, 'inside its transaction, before the commit', insideItsTransaction],
] as const)(
  'row %i: applies nothing if it resumes after an operator stated that nothing was applied, even if the target could not be sealed; suspended %s [T65]',
  async (id, _, attempt) => {
    const { world, late, wake } = await asleep(id, attempt);
    await notApplied(world);
    const ended = await world.reconcile();
    expect(ended).toMatchObject({ state: 'ROLLED_BACK', reason: 'commit_failed' });
    world.sealing = (seal) => seal();
    wake();
    expect(await late).toEqual(ended);
    expect(await pg.admin('select n from items where id = $1', [id])).toEqual([{ n: 1 }]);
    expect(await pg.admin('select effect from countersign.marker where change_id = $1', [world.changeId])).toEqual([
      { effect: { sealed: true } },
    ]);
  },
);

it('is awaited if it checked before the statement, and its effect takes precedence over the statement', async () => {
  const { world, late, wake } = await asleep(3, afterItHadAsked);
  await notApplied(world);
  world.lateMs = 1;
  const away = world.sealing;
  world.sealing = () => {
    world.sealing = async (seal) => {
      wake();
      await late;
      return seal();
    };
    return away(() => Promise.reject(new Error('unused')));
  };
  expect(await world.reconcile()).toMatchObject({ state: 'COMMITTED', reason: null });
  expect(await pg.admin('select n from items where id = 3')).toEqual([{ n: 2 }]);
});

it('is awaited in PostgreSQL for as long as the server allows an idle transaction', async () => {
  expect(sqlDryRunEffects.lateMs).toBe(15_000);
});

it('applies nothing while a freeze lasts that arrived inside its transaction, and loses no answer', async () => {
  const world = await new SqlWorld(pg, 4).confirmed();
  const keyId = world.keys.operator.keyId;
  world.committing = (ctx) =>
    commit({
      ...ctx,
      postCheck: async (record) => {
        world.freeze = { target: 'shop', n: 1, frozen: true, reason: 'migration', keyId, at: world.at() };
        return (await ctx.postCheck?.(record)) ?? { ok: true };
      },
    });
  expect(await failureType(world.commit())).toBe('TARGET_UNAVAILABLE');
  expect(await pg.admin('select n from items where id = 4')).toEqual([{ n: 1 }]);
  world.freeze = null;
  world.committing = commit;
  expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
  expect(await pg.admin('select n from items where id = 4')).toEqual([{ n: 2 }]);
});
