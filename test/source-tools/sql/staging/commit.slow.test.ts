import { canonicalJson } from '../../../../policy/contracts/canonical-json';
import { stagingSha } from '../../../../policy/contracts/staging-record';
import type { CommitContext, StageContext } from '../../../../policy/contracts/target-effects';
import { sqlDryRunEffects } from '../../../../source-tools/sql/staging';
import { toSettle } from '../../../support/to-settle';
import { onEachServer } from './target-server';
import { commitContext, notKept, PATIENT, stageContext } from './sql-context';
import { newChangeId, recordOf } from '../../../support/staged-change';
import { startProxy, type Proxy } from './tcp-proxy';

const { stage, commit, seal } = sqlDryRunEffects;
onEachServer((use) => {
  const pg = use(`
    CREATE TABLE orders (id int PRIMARY KEY, status text NOT NULL, total numeric(12,2) CHECK (total >= 0), updated_at timestamptz);
    CREATE TABLE counter (id int PRIMARY KEY, n bigint NOT NULL);
    CREATE TABLE logged (line text);
    CREATE TABLE tickets (id bigserial PRIMARY KEY, title text);
    CREATE TABLE audit (id serial PRIMARY KEY, what text);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO audit (what) VALUES (TG_OP); RETURN NULL; END $$;
  `);
  let proxy: Proxy;
  beforeAll(async () => {
    proxy = await startProxy(pg.server.port);
  });
  afterAll(() => proxy.stop());
  beforeEach(async () => {
    proxy.set('pass');
    await pg.admin(`TRUNCATE orders, counter, logged, tickets, audit;
    INSERT INTO orders SELECT g, 'open', g, '2026-01-01' FROM generate_series(1, 50) g;
    INSERT INTO counter VALUES (1, 0);
    INSERT INTO logged SELECT 'line ' || g % 3 FROM generate_series(1, 9) g`);
  });

  interface Approved {
    readonly staged: StageContext;
    readonly commitContext: (more?: Partial<CommitContext>) => CommitContext;
  }

  /** Runs the dry run of a change and returns a context in which its record is approved. */
  async function approved(sql: string, more: Partial<StageContext> = {}): Promise<Approved> {
    const staged = stageContext(pg.stageUrl, sql, more);
    const record = recordOf(await stage(staged));
    return { staged, commitContext: (extra = {}) => commitContext(staged, pg.commitUrl, record, extra) };
  }

  describe('a commit', () => {
    it('applies the approved change and stores its effect in the marker', async () => {
      const change = await approved(
        `UPDATE orders SET status = 'paid', updated_at = now() WHERE id <= 3; INSERT INTO tickets (title) VALUES ('a')`,
        { settings: { volatileColumns: ['public.orders.updated_at'] } },
      );
      const ctx = change.commitContext();
      const result = await commit(ctx);
      expect(result).toEqual({
        kind: 'applied',
        replayed: false,
        effect: {
          stagingSha: stagingSha(ctx.approved),
          statements: 2,
          tables: [
            { table: 'public.orders', inserted: 0, updated: 3, deleted: 0 },
            { table: 'public.tickets', inserted: 1, updated: 0, deleted: 0 },
          ],
          sideEffects: [],
          transaction: expect.stringMatching(/^\d+$/),
        },
      });
      expect(await pg.admin(`SELECT count(*)::int AS n FROM orders WHERE status = 'paid'`)).toEqual([{ n: 3 }]);
      expect(await pg.admin(`SELECT effect FROM countersign.marker WHERE change_id = $1`, [ctx.changeId])).toEqual([
        { effect: result.kind === 'applied' && result.effect },
      ]);
      expect(await seal(toSettle(ctx))).toEqual({
        found: true,
        effect: result.kind === 'applied' && result.effect,
      });
    });

    it('returns the first effect when it is repeated, and applies nothing [T65]', async () => {
      const ctx = (await approved('UPDATE counter SET n = n + 1')).commitContext();
      const first = await commit(ctx);
      expect(await commit(ctx)).toEqual({ ...first, replayed: true });
      expect(await pg.admin('SELECT n FROM counter')).toEqual([{ n: '1' }]);
    });

    it('has exactly one effect when 40 attempts from two adapters race [T65]', async () => {
      const ctx = (await approved('UPDATE counter SET n = n + 1', { settings: PATIENT })).commitContext();
      const other = { ...sqlDryRunEffects };
      const results = await Promise.all(
        Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? commit(ctx) : other.commit(ctx))),
      );
      expect(results.filter((r) => r.kind === 'applied' && !r.replayed)).toHaveLength(1);
      expect(new Set(results.map((r) => canonicalJson(r.kind === 'applied' && r.effect))).size).toBe(1);
      expect(await pg.admin('SELECT n FROM counter')).toEqual([{ n: '1' }]);
    });

    it.each([
      [
        'a row that it changes was modified',
        `UPDATE orders SET total = 99 WHERE id = 2`,
        'the rows before or after the change differ',
      ],
      [
        'its WHERE selects one more row',
        `INSERT INTO orders VALUES (0, 'open', 1, now())`,
        'changes 4 rows, but 3 were approved',
      ],
      ['its WHERE selects one row fewer', `DELETE FROM orders WHERE id = 3`, 'changes 2 rows, but 3 were approved'],
      [
        'a trigger was added',
        `CREATE TRIGGER note AFTER UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION note()`,
        'public.audit: side effects are 3 inserted',
      ],
      [
        'a column was added to the table',
        `ALTER TABLE orders ADD COLUMN extra int`,
        'the rows before or after the change differ',
      ],
    ])('is stale, and rolls back, when %s in the meantime [T61]', async (_, meanwhile, explanation) => {
      const ctx = (await approved(`UPDATE orders SET status = 'paid' WHERE id <= 3`)).commitContext();
      await pg.admin(meanwhile);
      const before = await pg.checksum('orders');
      try {
        expect(await commit(ctx)).toMatchObject({ kind: 'stale', explanation: expect.stringContaining(explanation) });
        expect(await pg.checksum('orders')).toBe(before);
        expect(await pg.admin('SELECT FROM countersign.marker WHERE change_id = $1', [ctx.changeId])).toEqual([]);
      } finally {
        await pg.admin('DROP TRIGGER IF EXISTS note ON orders; ALTER TABLE orders DROP COLUMN IF EXISTS extra');
      }
    });

    it('is stale when a row of a table without a primary key was modified', async () => {
      const ctx = (await approved(`DELETE FROM logged WHERE line <> 'line 0'`)).commitContext();
      await pg.admin(`UPDATE logged SET line = 'line 1' WHERE line = 'line 2'`);
      expect(await commit(ctx)).toMatchObject({ kind: 'stale' });
    });

    it('is stale when an expression has another value, though the old rows are equal', async () => {
      const ctx = (await approved('UPDATE orders SET total = (SELECT n FROM counter) WHERE id = 1')).commitContext();
      await pg.admin('UPDATE counter SET n = 7');
      expect(await commit(ctx)).toMatchObject({ kind: 'stale', explanation: expect.stringContaining('public.orders') });
    });

    it('has the same settings as the dry run, regardless of the settings of the roles', async () => {
      const sql = `UPDATE orders SET updated_at = '2026-03-01 12:00', status = to_char(1, '9') WHERE id = 1`;
      await pg.admin(
        `ALTER ROLE countersign_commit SET TimeZone = 'Asia/Tokyo'; ALTER ROLE countersign_stage SET search_path = pg_temp`,
      );
      try {
        expect(await commit((await approved(sql)).commitContext())).toMatchObject({ kind: 'applied' });
        expect(await pg.admin(`SELECT FROM orders WHERE updated_at = '2026-03-01 12:00+00'`)).toHaveLength(1);
      } finally {
        await pg.admin(`ALTER ROLE countersign_commit RESET TimeZone; ALTER ROLE countersign_stage RESET search_path`);
      }
    });

    it('is stale when another setting changes the meaning of the text', async () => {
      const ctx = (await approved(`UPDATE orders SET status = 'x' WHERE id = 1`)).commitContext();
      await pg.admin(`ALTER ROLE countersign_commit SET default_text_search_config = 'pg_catalog.german'`);
      try {
        expect(await commit(notKept(ctx))).toMatchObject({
          kind: 'stale',
          explanation: expect.stringContaining('default_text_search_config is pg_catalog.german'),
        });
      } finally {
        await pg.admin(`ALTER ROLE countersign_commit RESET default_text_search_config`);
      }
    });

    it('is stale when a trigger was added that could not be rehearsed', async () => {
      const ctx = (await approved(`UPDATE orders SET status = 'paid' WHERE id = 3`)).commitContext();
      await pg.admin(`CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('orders', NEW.id::text); RETURN NULL; END $$;
      CREATE TRIGGER tell AFTER UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION tell()`);
      try {
        expect(await commit(ctx)).toMatchObject({
          kind: 'stale',
          explanation: expect.stringContaining('pg_notify() is not on the list'),
        });
      } finally {
        await pg.admin('DROP FUNCTION tell CASCADE');
      }
    });

    it('compares every column that is not left out, even if its new value came from a clock', async () => {
      // The dry run must end before the value changes, also on a busy machine.
      for (let wait = 1_500; ; wait *= 3) {
        const due = Date.now() + wait;
        const sql = `UPDATE orders SET total = CASE WHEN now() > '${new Date(due).toISOString()}' THEN 1000 ELSE 1 END WHERE id = 1`;
        const ctx = (await approved(sql)).commitContext();
        expect(ctx.approved).toMatchObject({ fullyCaptured: true, notCompared: [] });
        if (Date.now() >= due) continue;
        await new Promise((resolve) => setTimeout(resolve, due - Date.now() + 100));
        expect(await commit(ctx)).toMatchObject({ kind: 'stale' });
        return;
      }
    });

    it('is stale for a diff other than the staged one', async () => {
      const change = await approved('UPDATE counter SET n = 1');
      const other = stageContext(pg.stageUrl, 'UPDATE counter SET n = 1 WHERE true');
      expect(await commit({ ...change.commitContext(), diff: other.diff })).toMatchObject({ kind: 'stale' });
    });

    it('is refused, and applies nothing, when the target rejects a statement', async () => {
      const ctx = (
        await approved(`INSERT INTO orders VALUES (100, 'a', 1, NULL); INSERT INTO orders VALUES (101, 'b', 1, NULL)`)
      ).commitContext();
      await pg.admin(`INSERT INTO orders VALUES (101, 'mine', 1, NULL)`);
      expect(await commit(ctx)).toEqual({
        kind: 'refused',
        explanation:
          'statement 2 (INSERT): rejected by the server: 23505 unique violation (table public.orders, constraint orders_pkey)',
      });
      expect(await pg.admin('SELECT status FROM orders WHERE id >= 100')).toEqual([{ status: 'mine' }]);
    });

    it('rolls back when a post validator rejects the change, and passes it the actual record', async () => {
      const ctx = (await approved(`UPDATE orders SET status = 'paid' WHERE id = 1`)).commitContext();
      const before = await pg.checksum('orders');
      const seen: unknown[] = [];
      const result = await commit({
        ...ctx,
        postCheck: async (record) => {
          seen.push(record);
          return { ok: false, explanation: 'too many' };
        },
      });
      expect(result).toEqual({ kind: 'post_failed', explanation: 'too many' });
      expect(seen).toEqual([ctx.approved]); // without the preview, which the committer adds
      expect(await pg.checksum('orders')).toBe(before);
      await expect(commit({ ...ctx, postCheck: () => Promise.reject(new Error('broken validator')) })).rejects.toThrow(
        'broken validator',
      );
      expect(await pg.checksum('orders')).toBe(before);
      expect(await commit({ ...ctx, postCheck: async () => ({ ok: true }) })).toMatchObject({
        kind: 'applied',
        replayed: false,
      });
    });

    it('fails with a retryable error, and applies nothing, if the target is down, locked, or terminated before COMMIT', async () => {
      const ctx = (await approved('UPDATE counter SET n = n + 1')).commitContext();
      const down = { ...ctx, target: { name: 'shop', url: Object.assign(new URL(pg.commitUrl), { port: '1' }).href } };
      await expect(commit(down)).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE', nonRetryable: false });
      await pg.admin('BEGIN; UPDATE counter SET n = n');
      await expect(commit({ ...ctx, settings: { ...ctx.settings, lockTimeoutMs: 100 } })).rejects.toMatchObject({
        type: 'TARGET_UNAVAILABLE',
      });
      await pg.admin('ROLLBACK');
      const killed = commit({
        ...ctx,
        postCheck: async () => {
          await pg.admin(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'countersign %' AND datname = current_database() AND pid <> pg_backend_pid()`,
          );
          return { ok: true };
        },
      });
      await expect(killed).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE' });
      expect(await pg.admin('SELECT n FROM counter')).toEqual([{ n: '0' }]);
      expect(await commit(ctx)).toMatchObject({ kind: 'applied', replayed: false });
    });

    it('fails with CONFIGURATION_ERROR if the role cannot write the marker', async () => {
      const ctx = (await approved('UPDATE counter SET n = n + 1')).commitContext();
      await expect(commit({ ...ctx, target: { name: 'shop', url: pg.stageUrl } })).rejects.toMatchObject({
        type: 'CONFIGURATION_ERROR',
        nonRetryable: true,
      });
    });

    it('refuses a change that writes to the marker table, even if the role has the privilege', async () => {
      const ctx = (await approved('UPDATE counter SET n = n + 1')).commitContext();
      const victim = newChangeId();
      for (const sql of [
        `INSERT INTO countersign.marker (change_id) VALUES ('${victim}')`,
        `DO $$ BEGIN INSERT INTO countersign.marker (change_id) VALUES ('${victim}'); END $$`,
      ]) {
        const unseen = { ...ctx.approved, reason: 'not_rehearsed' as const };
        const result = await commit({ ...ctx, approved: unseen, diff: stageContext('', sql).diff });
        expect(result).toMatchObject({
          kind: 'refused',
          explanation: expect.stringContaining('belongs to Countersign'),
        });
      }
      expect(await pg.admin('SELECT FROM countersign.marker WHERE change_id = $1', [victim])).toEqual([]);
    });

    it('reports an unknown outcome for a marker without an effect, which Countersign never commits', async () => {
      const ctx = (await approved('UPDATE counter SET n = n + 1')).commitContext();
      await pg.admin('INSERT INTO countersign.marker (change_id) VALUES ($1)', [ctx.changeId]);
      expect(await commit(ctx)).toMatchObject({ kind: 'unknown', explanation: expect.stringContaining('operator') });
      await expect(seal(toSettle(ctx))).rejects.toMatchObject({ type: 'CONFIGURATION_ERROR' });
      expect(await pg.admin('SELECT n FROM counter')).toEqual([{ n: '0' }]);
    });

    it('never changes the effect of a marker, not even for a superuser', async () => {
      const ctx = (await approved('UPDATE counter SET n = n + 1')).commitContext();
      await commit(ctx);
      await expect(
        pg.admin(`UPDATE countersign.marker SET effect = '{}' WHERE change_id = $1`, [ctx.changeId]),
      ).rejects.toThrow('written once');
    });
  });

  describe('the commit of a change that was not rehearsed', () => {
    it.each([
      ['a DO block', `DO $$ BEGIN DELETE FROM orders WHERE id <= 3; END $$`, { table: 'public.orders', deleted: 3 }],
      [
        'a DELETE inside WITH',
        'WITH g AS (DELETE FROM orders WHERE id <= 2 RETURNING 1) SELECT FROM g',
        { table: 'public.orders', deleted: 2 },
      ],
      ['EXPLAIN ANALYZE', 'EXPLAIN ANALYZE DELETE FROM orders WHERE id <= 5', { table: 'public.orders', deleted: 5 }],
      [
        'dynamic SQL',
        `DO $$ BEGIN EXECUTE 'DELETE FROM ' || 'orders WHERE id = 4'; END $$`,
        { table: 'public.orders', deleted: 1 },
      ],
      ['a locking SELECT', 'SELECT 1 FROM orders WHERE id = 1 FOR UPDATE', null],
    ])('executes %s once, and counts what it does', async (_, sql, effect) => {
      const ctx = (await approved(sql)).commitContext();
      expect(ctx.approved.reason).toBe('not_rehearsed');
      const seen: unknown[] = [];
      const result = await commit({ ...ctx, postCheck: async (record) => (seen.push(record), { ok: true }) });
      expect(result).toMatchObject({ kind: 'applied', effect: { sideEffects: effect === null ? [] : [effect] } });
      expect(seen).toMatchObject([{ reason: null, sideEffects: effect === null ? [] : [effect] }]);
    });

    it.each(['TRUNCATE orders', 'DROP TABLE audited', 'ALTER TABLE audited ADD COLUMN more int'])(
      'detects a change of the catalog that a DO block hides: %s',
      async (hidden) => {
        await pg.admin('CREATE TABLE IF NOT EXISTS audited (id int)');
        const change = await approved(`DO $x$ BEGIN EXECUTE $q$${hidden}$q$; END $x$`);
        const seen: { uncaptured: readonly string[] }[] = [];
        const asOwner = { name: 'shop', url: pg.adminUrl };
        await commit({
          ...change.commitContext(),
          target: asOwner,
          postCheck: async (record) => (seen.push(record), { ok: false, explanation: 'seen' }),
        });
        expect(seen[0]?.uncaptured.join('\n')).toContain('the system catalog changes (');
      },
    );

    it('is refused if a row is in a foreign table below the table, whose server commits on its own', async () => {
      const { port, pathname } = new URL(pg.adminUrl);
      const { username, password } = new URL(pg.commitUrl);
      await pg.admin(`CREATE EXTENSION postgres_fdw; CREATE TABLE far (id int);
        CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '${port}', dbname '${pathname.slice(1)}');
        CREATE USER MAPPING FOR ${username} SERVER other OPTIONS (user '${username}', password '${password}');
        CREATE TABLE parted (id int) PARTITION BY RANGE (id);
        CREATE TABLE parted_near PARTITION OF parted FOR VALUES FROM (10) TO (20);
        CREATE FOREIGN TABLE parted_far PARTITION OF parted FOR VALUES FROM (0) TO (10) SERVER other OPTIONS (table_name 'far')`);
      await pg.grant();
      try {
        const near = (await approved('INSERT INTO parted VALUES (11)')).commitContext();
        expect(await commit(near)).toMatchObject({ kind: 'applied' });
        const far = (await approved('INSERT INTO parted VALUES (1)')).commitContext();
        expect(await commit(far)).toEqual({
          kind: 'refused',
          explanation: 'the change writes to public.parted_far, a foreign table, whose rows are outside this database',
        });
        expect(await pg.admin('SELECT FROM far')).toEqual([]);
      } finally {
        await pg.admin('DROP TABLE parted, far; DROP EXTENSION postgres_fdw CASCADE');
      }
    });

    it('is stale for other statements', async () => {
      const change = await approved(`DO $$ BEGIN DELETE FROM orders WHERE id = 1; END $$`);
      const other = stageContext(pg.stageUrl, `DO $$ BEGIN DELETE FROM orders; END $$`);
      expect(await commit({ ...change.commitContext(), diff: other.diff })).toMatchObject({ kind: 'stale' });
    });

    it('is refused when the target rejects it', async () => {
      const ctx = (await approved(`DO $$ BEGIN UPDATE orders SET total = 0; COMMIT; END $$`)).commitContext();
      expect(await commit(ctx)).toMatchObject({ kind: 'refused', explanation: expect.stringContaining('2D000') });
      const copy = (await approved('TRUNCATE orders')).commitContext();
      expect(await commit(copy)).toMatchObject({ kind: 'refused', explanation: expect.stringContaining('42501') });
    });
  });

  describe('a commit whose response is lost', () => {
    const through = (ctx: CommitContext): CommitContext => ({
      ...ctx,
      target: { name: 'shop', url: proxy.url(pg.commitUrl) },
    });

    it('is unknown, and the marker shows that it was applied', async () => {
      const ctx = (await approved('UPDATE counter SET n = n + 1')).commitContext();
      proxy.set('drop-after');
      expect(await commit(through(ctx))).toMatchObject({ kind: 'unknown' });
      expect(await seal(toSettle(ctx))).toMatchObject({ found: true, effect: { statements: 1 } });
      expect(await commit(ctx)).toMatchObject({ kind: 'applied', replayed: true });
      expect(await pg.admin('SELECT n FROM counter')).toEqual([{ n: '1' }]);
    });

    it('is unknown, and the marker shows that it was not applied', async () => {
      const ctx = (await approved('UPDATE counter SET n = n + 1')).commitContext();
      proxy.set('drop-before');
      expect(await commit(through(ctx))).toMatchObject({ kind: 'unknown' });
      expect(await pg.admin('SELECT n FROM counter')).toEqual([{ n: '0' }]);
      const other = (await approved('UPDATE counter SET n = n + 1')).commitContext();
      expect(await commit(through(other))).toMatchObject({ kind: 'unknown' });
      expect(await seal(toSettle(other))).toEqual({ found: false });
      expect(await commit(other)).toEqual({ kind: 'sealed' });
      expect(await commit(ctx)).toMatchObject({ kind: 'applied', replayed: false });
    });

    it('is unknown when its server process is terminated during COMMIT, and the seal waits for a running COMMIT', async () => {
      const ctx = (await approved('UPDATE counter SET n = n + 1')).commitContext();
      // COMMIT waits for a standby that does not exist: it is durable but the client gets no response.
      await pg.admin(`ALTER SYSTEM SET synchronous_standby_names = 'absent'`);
      await pg.admin('SELECT pg_reload_conf()');
      try {
        // Commits wait only after the checkpointer has read the setting, which it does before a checkpoint.
        await pg.until(`SELECT 1 WHERE current_setting('synchronous_standby_names') = 'absent'`);
        await pg.admin('CHECKPOINT');
        const running = commit({ ...ctx, settings: { statementTimeoutMs: 30_000 } });
        const waiting = `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'countersign %' AND pid <> pg_backend_pid() AND wait_event = 'SyncRep'`;
        await pg.until(waiting);
        const brief = { ...ctx, settings: { ...ctx.settings, statementTimeoutMs: 300 } };
        await expect(seal(toSettle(brief))).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE' });
        await pg.admin(`SELECT pg_terminate_backend(pid) FROM (${waiting}) w`);
        expect(await running).toMatchObject({ kind: 'unknown' });
      } finally {
        await pg.admin('ALTER SYSTEM RESET synchronous_standby_names');
        await pg.admin('SELECT pg_reload_conf()');
      }
      expect(await seal(toSettle(ctx))).toMatchObject({ found: true });
      expect(await pg.admin('SELECT n FROM counter')).toEqual([{ n: '1' }]);
    });
  });

  describe('a sealed change', () => {
    it('cannot be applied by a later attempt', async () => {
      const ctx = (await approved('UPDATE counter SET n = n + 1')).commitContext();
      expect(await seal(toSettle(ctx))).toEqual({ found: false });
      expect(await seal(toSettle(ctx))).toEqual({ found: false });
      expect(await commit(ctx)).toEqual({ kind: 'sealed' });
      expect(await pg.admin('SELECT n FROM counter')).toEqual([{ n: '0' }]);
    });

    it('is not sealed after it was applied', async () => {
      const ctx = (await approved('UPDATE counter SET n = n + 1')).commitContext();
      await commit(ctx);
      expect(await seal(toSettle(ctx))).toMatchObject({ found: true, effect: { statements: 1 } });
    });

    it('is either sealed or applied when both race', async () => {
      for (let round = 0; round < 10; round++) {
        const ctx = (await approved('UPDATE counter SET n = n + 1', { settings: PATIENT })).commitContext();
        const [{ n: before } = {}] = await pg.admin('SELECT n::int AS n FROM counter');
        const [sealed, committed] = await Promise.all([seal(toSettle(ctx)), commit(ctx)]);
        const [{ n: after } = {}] = await pg.admin('SELECT n::int AS n FROM counter');
        expect(sealed.found).toBe(committed.kind === 'applied');
        expect(Number(after) - Number(before)).toBe(sealed.found ? 1 : 0);
      }
    });
  });
});
