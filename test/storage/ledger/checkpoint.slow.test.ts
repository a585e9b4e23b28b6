import { createCheckpointer } from '../../../storage/ledger/checkpoint';
import type { Queryable } from '../../../storage/database/database';
import { createLedger } from '../../../storage/ledger/ledger';
import { verifyLedger } from '../../../storage/ledger/verify-ledger';
import { merkleRoot } from '../../../policy/evidence/merkle';
import { lookup, testKey } from '../../support/keys';
import { eventually } from '../../support/eventually';
import { useFreshDatabase } from '../../support/postgres';

/** When the tests of this file begin: the database refuses times that are far from its clock. */
let AT: string;
beforeAll(() => void (AT = new Date().toISOString()));
const id = (n: number): string => n.toString(16).padStart(64, '0');
const key = testKey('committer', 'committer');
const trust = { keys: lookup(key), development: false };

const database = useFreshDatabase();

const checkpointer = (maxRows?: number) =>
  createCheckpointer({
    db: database.open('cs_commit'),
    key,
    now: () => new Date(AT),
    ...(maxRows === undefined ? {} : { maxRows }),
  });
async function append(change: number, ...facts: string[]): Promise<void> {
  await createLedger(database.open('cs_review')).append(
    id(change),
    facts.map((factKey) => ({ kind: 'refused', at: AT, body: {}, factKey })),
  );
}
const verify = () => verifyLedger(database.open('cs_reader'), trust);
/** Changes rows like an owner of the database could: with the triggers disabled. */
async function tamper(sql: string): Promise<void> {
  const admin = database.open('admin');
  await admin.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(sql);
  });
}

it('covers all rows of all reviews, and the next checkpoint covers the rows since then', async () => {
  const c = checkpointer();
  expect(await c.checkpoint()).toBeNull();
  await append(1, 'a', 'b');
  await append(2, 'a');
  expect(await c.checkpoint()).toMatchObject({ rows: 3, checkpoint: { size: 3, keyId: key.keyId, at: AT } });
  expect(await c.checkpoint()).toBeNull();
  await append(1, 'c');
  const second = await c.checkpoint();
  expect(second).toMatchObject({ rows: 1, checkpoint: { size: 4 } });
  const { rows } = await database
    .open('cs_reader')
    .query<{ hash: string }>('select hash from ledger_leaves order by leaf');
  expect(second?.checkpoint.rootHash).toBe(merkleRoot(rows.map(({ hash }) => hash)));
  await append(3, 'a');
  expect(await verify()).toEqual({
    ok: true,
    rows: 5,
    changes: 3,
    checkpoints: 2,
    uncovered: 1,
    problems: [],
    problemCount: 0,
  });
});

it('includes a row whose transaction commits after one that started later', async () => {
  const admin = database.open('admin');
  const slow = `select * from ledger_append('${id(1)}', '{refused}', '{${AT}}', '{"{}"}', '{a}', '{null}', '{null}', null)`;
  let size: number | undefined;
  await admin.transaction(async (tx) => {
    await tx.query(slow);
    await append(2, 'a');
    size = (await checkpointer().checkpoint())?.checkpoint.size;
  });
  expect(size).toBe(1);
  expect(await checkpointer().checkpoint()).toMatchObject({ rows: 1, checkpoint: { size: 2 } });
  expect(await verify()).toMatchObject({ ok: true, uncovered: 0 });
});

it('includes a row of a transaction that was open for longer than a minute', async () => {
  const gateway = database.open('cs_gateway');
  await gateway.transaction(async (tx) => {
    await createLedger(tx).append(id(1), [{ kind: 'refused', at: AT, body: {}, factKey: 'a' }]);
    await append(2, 'a');
    await checkpointer().checkpoint();
    await tamper(`update ledger_checkpoints set created_at = now() - interval '2 minutes'`);
    await append(3, 'a');
    expect(await checkpointer().checkpoint()).toMatchObject({ rows: 1, checkpoint: { size: 2 } });
  });
  expect(await checkpointer().checkpoint()).toMatchObject({ rows: 1, checkpoint: { size: 3 } });
  expect(await verify()).toMatchObject({ ok: true, uncovered: 0 });
});

it('includes many rows in several checkpoints, and does not settle rows without a leaf', async () => {
  for (let change = 1; change <= 3; change++) await append(change, 'a', 'b', 'c', 'd');
  const c = checkpointer(8);
  expect(await c.checkpoint()).toMatchObject({ rows: 8 });
  await tamper(`update ledger_checkpoints set created_at = now() - interval '2 minutes'`);
  const admin = database.open('admin');
  await eventually('the end of transactions in other databases', async () => {
    const { rows } = await admin.query<{ ended: boolean }>(
      `select age(xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid) as ended from ledger_checkpoints`,
    );
    return rows[0]?.ended ?? false;
  });
  expect(await c.checkpoint()).toMatchObject({ rows: 4, checkpoint: { size: 12 } });
  const { rows } = await database
    .open('cs_reader')
    .query<{ settled_seq: string }>('select settled_seq from ledger_checkpoints order by size');
  expect(rows.map((r) => Number(r.settled_seq))).toEqual([0, 8]);
  expect(await verify()).toMatchObject({ ok: true, rows: 12, uncovered: 0 });
});

it('is made by only one of two concurrent processes', async () => {
  await append(1, 'a');
  const done = await Promise.all([checkpointer().checkpoint(), checkpointer().checkpoint()]);
  expect(done.filter((d) => d !== null)).toHaveLength(1);
});

it('ledger verify checks a row that gets its leaf after the leaves were read', async () => {
  await append(1, 'a');
  await checkpointer().checkpoint();
  await append(2, 'a');
  const reader = database.open('cs_reader');
  let leavesRead = false;
  const meanwhile: Queryable = {
    async query(text, values, name) {
      if (!leavesRead && text.includes('select seq from ledger')) {
        leavesRead = true;
        await checkpointer().checkpoint();
        await append(2, 'b');
      }
      return reader.query(text, values, name);
    },
  };
  const report = await verifyLedger(meanwhile, trust);
  expect(leavesRead).toBe(true);
  expect(report).toMatchObject({ ok: true, problems: [], rows: 3, changes: 2, uncovered: 2 });
});

describe('ledger verify detects', () => {
  beforeEach(async () => {
    await append(1, 'a', 'b', 'c');
    await append(2, 'a', 'b');
    await checkpointer().checkpoint();
    await append(1, 'd', 'e');
    await checkpointer().checkpoint();
    await append(3, 'a', 'b');
    expect(await verify()).toMatchObject({ ok: true, rows: 9, checkpoints: 2, uncovered: 2 });
  });

  it.each([
    ['a changed body', `update ledger set body = '{"x":1}' where change_id = '${id(1)}' and n = 1`, /was changed/],
    [
      'a changed time',
      `update ledger set at = '2026-01-02T03:04:06.000Z' where change_id = '${id(3)}' and n = 1`,
      /was changed/,
    ],
    [
      'a changed hash',
      `update ledger set hash = repeat('a', 64) where change_id = '${id(2)}' and n = 1`,
      /its leaf|was changed/,
    ],
    [
      'a row removed from the middle',
      `delete from ledger where change_id = '${id(1)}' and n = 1`,
      /has a leaf but is missing/,
    ],
    [
      'a row removed from the end of a review',
      `delete from ledger where change_id = '${id(1)}' and n = 4`,
      /has a leaf but is missing/,
    ],
    ['a removed review', `delete from ledger where change_id = '${id(2)}'`, /has a leaf but is missing/],
    [
      'a review removed with its leaves',
      `delete from ledger where change_id = '${id(2)}'; delete from ledger_leaves where change_id = '${id(2)}'`,
      /covers more rows than there are leaves/,
    ],
    [
      'removed last leaves',
      `delete from ledger_leaves where leaf >= 5; delete from ledger where change_id = '${id(1)}' and n > 2`,
      /covers more rows|not that of the tree/,
    ],
    ['a removed newest checkpoint', 'delete from ledger_checkpoints where size = 7', /leaf 6: no checkpoint covers/],
    ['all checkpoints removed', 'delete from ledger_checkpoints', /leaf 6: no checkpoint covers/],
    [
      'a checkpoint with another root',
      `update ledger_checkpoints set root_hash = repeat('a', 64) where size = 5`,
      /checkpoint 5/,
    ],
    [
      'a checkpoint with another statement',
      `update ledger_checkpoints set envelope = (select envelope from ledger_checkpoints where size = 7) where size = 5`,
      /checkpoint 5/,
    ],
    [
      'a removed row that no checkpoint covers yet',
      `delete from ledger where change_id = '${id(3)}' and n = 0`,
      /missing/,
    ],
  ])('%s', async (_what, sql, problem) => {
    for (const one of sql.split('; ')) await tamper(one);
    const report = await verify();
    expect(report.ok).toBe(false);
    expect(report.problems.join('\n')).toMatch(problem);
  });

  it('a checkpoint not signed by a registered committer key', async () => {
    const report = await verifyLedger(database.open('cs_reader'), { keys: lookup(), development: false });
    expect(report.problems).toEqual([expect.stringContaining('checkpoint 5'), expect.stringContaining('checkpoint 7')]);
  });

  it('a last checkpoint that does not match its tree, when the next one is made', async () => {
    await tamper(
      `update ledger_checkpoints set frontier = (select frontier from ledger_checkpoints where size = 5) where size = 7`,
    );
    await expect(checkpointer().checkpoint()).rejects.toThrow('does not match its own tree');
  });
});
