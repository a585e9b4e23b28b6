import { recordFreeze, targetFreezes } from '../../../activities/committer/target-freezes';
import type { TargetFreeze } from '../../../policy/evidence/predicates';
import { testKey } from '../../support/keys';
import { useFreshDatabase } from '../../support/postgres';
import { failureType } from '../../support/review/failure-type';
import { ReviewWorld } from '../../support/review/review-world';

const AT = '2026-03-01T12:00:00.000Z';
const FREEZE: TargetFreeze = { target: 'shop', n: 1, frozen: true, reason: 'migration', keyId: '0'.repeat(64), at: AT };

describe('a frozen target', () => {
  it('blocks a commit, records that once, and allows it when the freeze is lifted in time', async () => {
    const world = await new ReviewWorld().confirmed();
    world.freeze = FREEZE;
    expect(await failureType(world.commit())).toBe('TARGET_UNAVAILABLE');
    expect(await failureType(world.commit())).toBe('TARGET_UNAVAILABLE');
    expect((await world.kinds()).filter((kind) => kind === 'refused' || kind === 'intent')).toEqual(['refused']);
    expect(world.target.applied).toBe(0);
    world.freeze = null;
    expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
    expect(world.target.applied).toBe(1);
  });

  it('ends in rollback with an explanation if it stays frozen past the commit window', async () => {
    const world = await new ReviewWorld().confirmed();
    world.freeze = FREEZE;
    expect(await failureType(world.commit())).toBe('TARGET_UNAVAILABLE');
    world.pass(16);
    expect(await world.reconcile()).toMatchObject({
      state: 'ROLLED_BACK',
      reason: 'commit_failed',
      explanation: expect.stringContaining('frozen since'),
    });
    world.freeze = null;
    expect(await world.commit()).toMatchObject({ state: 'ROLLED_BACK' });
    expect(world.target.applied).toBe(0);
  });

  it('is not written to by a commit that began before the freeze, and an applied effect is still settled', async () => {
    const world = await new ReviewWorld().confirmed();
    world.target.loses = true;
    expect(await world.commit()).toMatchObject({ state: 'EFFECT_UNKNOWN' });
    world.freeze = FREEZE;
    expect(await failureType(world.commit())).toBe('TARGET_UNAVAILABLE');
    expect(await world.reconcile()).toMatchObject({ state: 'COMMITTED' });
    expect(world.target.applied).toBe(1);
  });
});

describe('the table of freezes', () => {
  const operator = testKey('operator', 'olga');
  const stranger = testKey('operator', 'eve');
  const database = useFreshDatabase();

  const say = (frozen: boolean, key = operator, target = 'shop') =>
    recordFreeze(database.open('cs_operator'), { target, frozen, reason: 'migration', at: AT }, key);
  const current = async () => targetFreezes(database.open('cs_commit'), [operator.publicKey]).current('shop');

  it('returns the latest statement of a trusted operator', async () => {
    expect(await current()).toBeNull();
    expect(await say(true)).toBe(1);
    expect(await current()).toMatchObject({ frozen: true, n: 1 });
    expect(await say(true, operator, 'vault')).toBe(1);
    expect(await say(false)).toBe(2);
    expect(await current()).toBeNull();
    expect(await say(true)).toBe(3);
    expect(await current()).toMatchObject({ n: 3 });
  });

  it('ignores a row of an unknown key, and an old statement under a new number', async () => {
    await say(true);
    await say(false);
    await say(true);
    await say(false, stranger);
    const admin = database.open('admin');
    await admin.query(
      `insert into target_freezes (target, n, envelope) select target, 5, envelope from target_freezes where n = 2`,
    );
    expect(await current()).toMatchObject({ frozen: true, n: 3 });
    // Forged rows cannot prevent an operator from adding one.
    expect(await say(false)).toBe(6);
    expect(await current()).toBeNull();
  });

  it('has the next number, also for the owner', async () => {
    await say(true);
    const { envelope } = (
      await database.open('admin').query<{ envelope: unknown }>('select envelope from target_freezes')
    ).rows[0] ?? { envelope: null };
    for (const role of ['cs_operator', 'admin'] as const)
      for (const n of [1, 3, 2_147_483_647])
        await expect(
          database
            .open(role)
            .query('insert into target_freezes (target, n, envelope) values ($1, $2, $3)', [
              'shop',
              n,
              JSON.stringify(envelope),
            ]),
        ).rejects.toMatchObject({ code: '22023' });
    expect(await say(false)).toBe(2);
    expect(await current()).toBeNull();
  });

  it('returns unknown and blocks the commit if a thousand unsigned rows follow the freeze', async () => {
    await say(true);
    await say(false, stranger);
    await database.open('admin').query(
      `insert into target_freezes (target, n, envelope)
       select target, generate_series(3, 1001), envelope from target_freezes where n = 2`,
    );
    expect(await current()).toBe('unknown');
    const world = await new ReviewWorld().confirmed();
    world.freeze = 'unknown';
    expect(await failureType(world.commit())).toBe('TARGET_UNAVAILABLE');
    expect(await world.kinds()).not.toContain('intent');
    expect(world.target.applied).toBe(0);
    await say(true);
    expect(await current()).toMatchObject({ frozen: true, n: 1002 });
  });

  it('cannot be written by the committer', async () => {
    const mine = recordFreeze(
      database.open('cs_commit'),
      { target: 'shop', frozen: false, reason: 'x', at: AT },
      operator,
    );
    await expect(mine).rejects.toMatchObject({ code: '42501' });
  });
});
