import { createHash } from 'node:crypto';
import { sqlCasEffects } from '../../../../source-tools/sql/staging';
import type { StageContext } from '../../../../policy/contracts/target-effects';
import { onEachSharedServer } from './target-server';
import { commitContext, PATIENT, stageContext } from './sql-context';
import { diffOf, recordOf } from '../../../support/staged-change';

const { stage, commit } = sqlCasEffects;
onEachSharedServer((use) => {
  const pg = use(`
    CREATE TYPE mood AS ENUM ('sad', 'glad');
    CREATE TABLE customers (id int PRIMARY KEY, name text, version int NOT NULL);
    CREATE TABLE orders (id bigint PRIMARY KEY, customer_id int REFERENCES customers, status text, version int NOT NULL,
      total numeric(30,10), tags text[], data jsonb, mood mood, at timestamptz, "Odd$Name" text);
    CREATE TABLE items (order_id bigint, line int, amount int, PRIMARY KEY (order_id, line));
    CREATE TABLE secrets (id int PRIMARY KEY, x text);
  `);
  beforeAll(async () => {
    await pg.admin('REVOKE ALL ON secrets FROM countersign_stage, countersign_commit');
  });
  beforeEach(() =>
    pg.admin(`TRUNCATE customers, orders, items;
    INSERT INTO customers SELECT g, 'c' || g, 1 FROM generate_series(1, 5) g;
    INSERT INTO orders SELECT g, 1, 'open', 3, g, '{}', '{}', 'sad', '2026-01-01 00:00+00' FROM generate_series(1, 20) g;
    INSERT INTO items SELECT o, l, 1 FROM generate_series(1, 3) o, generate_series(1, 3) l`),
  );

  const context = (rows: unknown): StageContext => {
    const ctx = stageContext(pg.stageUrl, '');
    return { ...ctx, diff: diffOf(typeof rows === 'string' ? rows : JSON.stringify({ rows }), 'SQLCAS') };
  };
  async function approved(rows: unknown) {
    const staged = context(rows);
    const record = recordOf(await stage(staged));
    return commitContext(staged, pg.commitUrl, record);
  }
  const update = (id: number, set: object, expect: object = { version: 3 }) => ({
    table: 'public.orders',
    key: { id },
    expect,
    set,
  });

  describe('SQLCAS', () => {
    it('applies the compared rows once, and records them before and after', async () => {
      const rows = [
        update(17, { status: 'paid', version: 4 }),
        {
          op: 'insert',
          table: 'public.customers',
          key: { id: 9 },
          set: { name: 'O\'Brien "; DROP TABLE orders; --', version: 1 },
        },
        { op: 'insert', table: 'public.orders', key: { id: 99 }, set: { customer_id: 9, version: 1 } },
        { op: 'delete', table: 'public.items', key: { order_id: 2, line: 3 }, expect: { amount: 1 } },
      ];
      const before = await pg.checksum('orders');
      const ctx = await approved(rows);
      expect(await pg.checksum('orders')).toBe(before);
      expect(ctx.approved).toMatchObject({
        sourceTool: 'SQLCAS',
        statements: [
          { command: 'UPDATE', rowCount: 1 },
          { command: 'INSERT', rowCount: 1 },
          { command: 'INSERT', rowCount: 1 },
          { command: 'DELETE', rowCount: 1 },
        ],
        tables: [
          { table: 'public.customers', inserted: 1 },
          { table: 'public.items', deleted: 1 },
          { table: 'public.orders', inserted: 1, updated: 1 },
        ],
        fullyCaptured: true,
      });
      expect(await commit(ctx)).toMatchObject({ kind: 'applied', replayed: false });
      expect(await commit(ctx)).toMatchObject({ kind: 'applied', replayed: true });
      expect(await pg.admin(`SELECT status, version FROM orders WHERE id = 17`)).toEqual([
        { status: 'paid', version: 4 },
      ]);
      expect(await pg.admin(`SELECT name FROM customers WHERE id = 9`)).toEqual([
        { name: 'O\'Brien "; DROP TABLE orders; --' },
      ]);
    });

    it('converts each value to the column type with all its digits', async () => {
      const set = {
        total: '12345678901234567890.0123456789',
        tags: ['a', 'b,"c'],
        data: { deep: [1, { x: null }] },
        mood: 'glad',
        at: '2026-05-01T10:00:00',
        Odd$Name: 'ünïcode \u2028',
        status: null,
      };
      expect(await commit(await approved([update(1, set)]))).toMatchObject({ kind: 'applied' });
      expect(
        await pg.admin(
          `SELECT total::text, tags, data, mood, at::text, "Odd$Name" AS odd, status FROM orders WHERE id = 1`,
        ),
      ).toEqual([
        {
          total: set.total,
          tags: set.tags,
          data: set.data,
          mood: 'glad',
          at: '2026-05-01 10:00:00+00',
          odd: set['Odd$Name'],
          status: null,
        },
      ]);
    });

    it.each([
      ['the version differs', [update(1, { status: 'x' }, { version: 4 })], '/rows/0: expected exactly one row'],
      [
        'the row does not exist',
        [update(1, { status: 'x' }), update(1000, { status: 'x' })],
        '/rows/1: expected exactly one row',
      ],
      [
        'the key of an insert already exists',
        [{ op: 'insert', table: 'public.customers', key: { id: 1 }, set: { version: 1 } }],
        '/rows/0: expected no row with this key, found one',
      ],
    ])('is stale at dry run when %s, with nothing changed', async (_, rows, explanation) => {
      const before = await pg.checksum('orders');
      expect(await stage(context(rows))).toMatchObject({
        kind: 'rejected',
        stale: true,
        explanation: expect.stringContaining(explanation),
      });
      expect(await pg.checksum('orders')).toBe(before);
    });

    it.each([
      [
        'the key selects several rows',
        [{ table: 'public.items', key: { order_id: 1 }, expect: { amount: 1 }, set: { amount: 2 } }],
        'more than one row',
      ],
      ['a column does not exist', [update(1, { nothing: 1 })], 'public.orders: no such column: nothing'],
      [
        'a table does not exist',
        [{ table: 'public.nothing', key: { id: 1 }, expect: { version: 1 }, set: { x: 1 } }],
        'no such table',
      ],
      ['a value has the wrong type', [update(1, { version: 'many' })], '22P02'],
      ['a key has the wrong type', [{ ...update(1, { version: 1 }), key: { id: 'x' } }], '22P02'],
      [
        'the role lacks a privilege',
        [{ table: 'public.secrets', key: { id: 1 }, expect: { x: 'y' }, set: { x: 'z' } }],
        '42501',
      ],
      [
        'the table belongs to Countersign',
        [{ table: 'countersign.marker', key: { change_id: 'x' }, expect: { effect: null }, set: { effect: {} } }],
        'countersign.marker',
      ],
      ['a foreign key is violated', [update(1, { customer_id: 77 })], '23503'],
    ])('is rejected at dry run when %s, with nothing changed', async (_, rows, explanation) => {
      const before = await pg.checksum('orders');
      expect(await stage(context(rows))).toEqual({
        kind: 'rejected',
        explanation: expect.stringContaining(explanation),
      });
      expect(await pg.checksum('orders')).toBe(before);
    });

    it.each([
      ['the version was changed', `UPDATE orders SET version = 4 WHERE id = 2`, '/rows/1: expected exactly one row'],
      ['the row was deleted', `DELETE FROM orders WHERE id = 2`, '/rows/1: expected exactly one row'],
      [
        'another column was changed but the version was not',
        `UPDATE orders SET total = 7 WHERE id = 2`,
        'the rows before or after the change differ',
      ],
    ])('is stale, and applies nothing, when %s in the meantime [T61]', async (_, meanwhile, explanation) => {
      const ctx = await approved([
        update(1, { status: 'paid', version: 4 }),
        update(2, { status: 'paid', version: 4 }),
      ]);
      await pg.admin(meanwhile);
      expect(await commit(ctx)).toMatchObject({ kind: 'stale', explanation: expect.stringContaining(explanation) });
      expect(await pg.admin(`SELECT FROM orders WHERE status = 'paid'`)).toEqual([]);
    });

    it('is stale when the key of its insert was inserted in the meantime', async () => {
      const ctx = await approved([{ op: 'insert', table: 'public.customers', key: { id: 50 }, set: { version: 1 } }]);
      await pg.admin(`INSERT INTO customers VALUES (50, 'mine', 1)`);
      expect(await commit(ctx)).toMatchObject({ kind: 'stale' });
      expect(await pg.admin('SELECT name FROM customers WHERE id = 50')).toEqual([{ name: 'mine' }]);
    });

    it('compares a full row by its hash, regardless of the time zone of the session', async () => {
      await pg.admin(`SET TimeZone = 'UTC'`);
      const [row] = await pg.admin('SELECT to_jsonb(o.*)::text AS text FROM orders o WHERE id = 5');
      const rowSha = createHash('sha256').update(String(row?.['text'])).digest('hex');
      const rows = [update(5, { status: 'paid' }, { rowSha })];
      const elsewhere = (url: string): string => `${url}?options=${encodeURIComponent('-c TimeZone=Asia/Tokyo')}`;
      const ctx = { ...stageContext(elsewhere(pg.stageUrl), ''), diff: context(rows).diff };
      const record = recordOf(await stage(ctx));
      expect(await commit(commitContext(ctx, elsewhere(pg.commitUrl), record))).toMatchObject({ kind: 'applied' });
      expect(await stage(context(rows))).toMatchObject({ kind: 'rejected' });
    });

    it('does not deadlock when two changes list the same rows in opposite order', async () => {
      const ids = Array.from({ length: 12 }, (_, i) => i + 1);
      const change = (order: readonly number[], status: string) => approved(order.map((id) => update(id, { status })));
      const [up, down] = [await change(ids, 'up'), await change(ids.toReversed(), 'down')];
      const results = await Promise.all([up, down].map((ctx) => commit({ ...ctx, settings: PATIENT })));
      expect(results.map((r) => r.kind).sort()).toEqual(['applied', 'stale']);
    });

    it('applies only one of several changes that race for the same version', async () => {
      // One after another: a rehearsal waits only briefly for the lock of another one.
      const changes: Awaited<ReturnType<typeof approved>>[] = [];
      for (let i = 0; i < 8; i++) changes.push(await approved([update(3, { status: `s${i}`, version: 4 })]));
      const results = await Promise.all(changes.map((ctx) => commit({ ...ctx, settings: PATIENT })));
      expect(results.filter((r) => r.kind === 'applied')).toHaveLength(1);
      expect(results.filter((r) => r.kind === 'stale')).toHaveLength(7);
    });
  });
});
