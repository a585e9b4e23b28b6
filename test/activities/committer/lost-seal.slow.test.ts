import { targetUnavailable } from '../../../source-tools/target-failure';
import { SqlWorld } from '../../support/sql-world';
import { useTarget } from '../../source-tools/sql/staging/target-server';

const pg = useTarget(`
    create table items (id int primary key, n int not null, check (n < 100));
    insert into items select g, 1 from generate_series(1, 9) g`);

async function stale(id: number): Promise<SqlWorld> {
  const world = await new SqlWorld(pg, id).confirmed();
  await pg.admin('update items set n = 50 where id = $1', [id]);
  // The seal is in the target, but the committer sees a broken connection.
  world.sealing = async (seal) => {
    world.sealing = (again) => again();
    await seal();
    throw targetUnavailable('shop', 'the connection broke');
  };
  await expect(world.commit()).rejects.toThrow('the connection broke');
  expect(await pg.admin('select effect from countersign.marker where change_id = $1', [world.changeId])).toEqual([
    { effect: { sealed: true } },
  ]);
  return world;
}

it('reports stale_base even if the answer to the seal was lost and the next attempt only finds the seal [T61]', async () => {
  const world = await stale(1);
  const ended = await world.commit();
  expect(ended).toMatchObject({ state: 'ROLLED_BACK', reason: 'stale_base' });
  expect(ended).toMatchObject({ explanation: expect.stringContaining('the rows before or after the change differ') });
  expect(await pg.admin('select n from items where id = 1')).toEqual([{ n: 50 }]);
});

it.each(['reconcile', 'rollback'] as const)(
  'returns the recorded reason from %s, which has no state of the attempt',
  async (asked) => {
    const world = await stale(asked === 'reconcile' ? 2 : 3);
    expect(await world[asked]()).toMatchObject({ state: 'ROLLED_BACK', reason: 'stale_base' });
  },
);

it('records the reason before it seals, once for each reason regardless of retries', async () => {
  const world = await new SqlWorld(pg, 4).confirmed();
  await pg.admin('update items set n = 50 where id = 4');
  world.sealing = () => Promise.reject(targetUnavailable('shop', 'away'));
  for (let i = 0; i < 3; i++) await expect(world.commit()).rejects.toThrow('away');
  const refused = (await world.rows()).filter(({ row }) => row.kind === 'refused');
  expect(refused.map(({ row }) => row.body)).toMatchObject([{ check: 'nothing_applied', reason: 'stale_base' }]);
});

it('commits if the base is back in its approved state, regardless of the reason that an earlier attempt recorded', async () => {
  const world = await new SqlWorld(pg, 5).confirmed();
  await pg.admin('update items set n = 50 where id = 5');
  world.sealing = () => Promise.reject(targetUnavailable('shop', 'away'));
  await expect(world.commit()).rejects.toThrow('away');
  await pg.admin('update items set n = 1 where id = 5');
  expect(await world.commit()).toMatchObject({ state: 'COMMITTED', reason: null });
});

it('says in the receipt that an effect should be reverted if the seal found that its undo had no effect', async () => {
  const world = await new SqlWorld(pg, 7).confirmed();
  await world.ledger.append(world.changeId, [{ kind: 'intent', at: world.at(), factKey: 'settlement', body: {} }]);
  world.sealing = async () => ({ found: true, effect: { n: 1 }, shouldBeReverted: 'guardian.x: no' });
  expect(await world.reconcile()).toMatchObject({
    state: 'COMMITTED',
    explanation: expect.stringContaining('should be reverted: guardian.x: no'),
  });
  const effect = (await world.rows()).find(({ row }) => row.kind === 'effect')?.row.body['effect'];
  expect(effect).toEqual({ n: 1, shouldBeReverted: 'guardian.x: no' });
});

it('ends as commit_failed if no attempt recorded a reason', async () => {
  const world = await new SqlWorld(pg, 6).confirmed();
  await world.ledger.append(world.changeId, [{ kind: 'intent', at: world.at(), factKey: 'settlement', body: {} }]);
  expect(await world.reconcile()).toMatchObject({
    state: 'ROLLED_BACK',
    reason: 'commit_failed',
    explanation: expect.stringContaining('no trace'),
  });
});
