import { stagingRecord } from '../../../../dev/staging-record';
import { factsOf, fires, run } from './support/run-rule';

const keyValues = async (sql: string): Promise<number | null | undefined> => (await factsOf(sql)).dml[0]?.keyValues;

describe('the key values that a condition names', () => {
  it.each<readonly [string, number]>([
    ['UPDATE t SET a = 1 WHERE id = 7', 1],
    ["DELETE FROM t WHERE 'x' = code AND a > 1", 1],
    ['DELETE FROM t WHERE t.id = 7 AND length(x) >= 0', 1],
    ['DELETE FROM s.t AS x WHERE x.id = -7', 1],
    ['DELETE FROM t WHERE id IN (1, 2, 3)', 3],
    ['DELETE FROM t WHERE id IN (1, 2) AND code IN (1, 2, 3)', 2],
    ['DELETE FROM t WHERE id = 1 OR id = 2 OR id IN (3, 4)', 4],
    ['DELETE FROM t WHERE (a, b) = (1, 2)', 1],
    ['DELETE FROM t WHERE (a, b) IN ((1, 2), (3, 4))', 2],
    ['DELETE FROM t WHERE id = ANY (ARRAY[1, 2]::int[])', 2],
    ["DELETE FROM t WHERE id = ANY ('{1,2,3}'::bigint[])", 3],
    ['DELETE FROM t WHERE id = $1', 1],
    ["DELETE FROM t WHERE ctid = '(0,1)'", 1],
    ['DELETE FROM t WHERE id = (SELECT max(id) FROM u)', 1],
    ['DELETE FROM t WHERE id IN (SELECT id FROM t WHERE old ORDER BY id LIMIT 10)', 10],
    ['UPDATE t SET a = u.a FROM u WHERE u.id = t.id AND t.id = 7', 1],
    ['DELETE FROM public.t USING u WHERE public.t.id = 7', 1],
  ])('%s: %d', async (sql, expected) => {
    expect(await keyValues(sql)).toBe(expected);
  });

  it.each([
    'DELETE FROM t WHERE id IS NOT NULL',
    'DELETE FROM t WHERE length(x) >= 0',
    'DELETE FROM t WHERE id > 0',
    'DELETE FROM t WHERE id BETWEEN 1 AND 2',
    "DELETE FROM t WHERE name LIKE 'a%'",
    'DELETE FROM t WHERE id <> 7',
    'DELETE FROM t WHERE NOT id = 7',
    'DELETE FROM t WHERE id NOT IN (1, 2)',
    'DELETE FROM t WHERE id <> ALL (ARRAY[1, 2])',
    'DELETE FROM t WHERE id = 7 OR a > 1',
    'DELETE FROM t WHERE id IN (1, other)',
    'DELETE FROM t WHERE active = true',
    'DELETE FROM t WHERE active',
    'DELETE FROM t WHERE id = NULL',
    'DELETE FROM t WHERE id = parent',
    'DELETE FROM t WHERE id + 0 = 7',
    'DELETE FROM t WHERE coalesce(id, 7) = 7',
    'DELETE FROM t WHERE id OPERATOR(evil.=) 7',
    'DELETE FROM t WHERE tableoid = 7',
    'DELETE FROM t WHERE id = ANY ($1)',
    "DELETE FROM t WHERE id = ANY ('{}')",
    "DELETE FROM t WHERE id = ANY ('{{1,2},{3,4}}')",
    'DELETE FROM t WHERE id = (SELECT t.id)',
    'DELETE FROM t WHERE id = (SELECT t.id FROM u LIMIT 1)',
    'DELETE FROM t WHERE id IN (SELECT id FROM u)',
    'DELETE FROM t WHERE (a, 1) = (1, 1) AND b > 1 OR true',
    'DELETE FROM t WHERE (1, 1) = (1, 1)',
    'DELETE FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = 7)',
    'DELETE FROM t USING u WHERE u.id = 7',
    'DELETE FROM t USING u WHERE id = 7',
    'DELETE FROM t AS x USING u WHERE t.id = 7',
    'DELETE FROM a.t USING b.t WHERE b.t.id = 7',
    'UPDATE t SET a = 1 FROM u WHERE t.id = u.id AND u.id = 7',
    'UPDATE t SET a = 1 FROM generate_series(1, 9) AS s WHERE s = 7',
    'UPDATE t SET a = 1',
  ])('%s: none', async (sql) => {
    expect(await keyValues(sql)).toBeNull();
  });
});

describe('sql_unkeyed_write', () => {
  it('needs a key or a claim', async () => {
    const sql = "DELETE FROM sessions WHERE expires < now() - interval '1 day'";
    expect(await fires('sql_unkeyed_write', sql)).toBe(true);
    expect(await fires('sql_unkeyed_write', sql, { metadata: { affected_rows: 12 } })).toBe(false);
    expect(await fires('sql_unkeyed_write', sql, { metadata: { affected_rows: null } })).toBe(true);
    expect(await fires('sql_unkeyed_write', sql, { metadata: { affected_rows: '12' } })).toBe(true);
    expect(await fires('sql_unkeyed_write', "DELETE FROM sessions WHERE token = 'a'")).toBe(false);
  });

  it.each([
    'DELETE FROM t WHERE length(x) >= 0',
    'DELETE FROM t WHERE x IS NOT NULL',
    'DELETE FROM t WHERE id > 0',
    'DELETE FROM t WHERE 1 <= id',
    'DELETE FROM t WHERE id > 0.00::numeric(10, 2)',
    "DELETE FROM t WHERE name > ''",
    "DELETE FROM t WHERE made > '-infinity'",
    "DELETE FROM t WHERE made >= timestamptz 'epoch'",
    "DELETE FROM t WHERE '1970-01-01' <= made",
    "DELETE FROM t WHERE made < 'infinity'::timestamptz",
    "DELETE FROM t WHERE made <= '9999-12-31'",
    "DELETE FROM t WHERE made BETWEEN '-infinity' AND 'infinity'",
    'DELETE FROM t WHERE id BETWEEN 0 AND 2147483647',
    'DELETE FROM t WHERE id <= 9223372036854775807',
    'DELETE FROM t WHERE 2147483647 >= id',
    "DELETE FROM t WHERE ctid >= '(0,0)'",
    'DELETE FROM t WHERE NOT (id = ANY (SELECT 1 WHERE false))',
    "DELETE FROM t WHERE name <> '' OR x = 7",
    "DELETE FROM t USING u WHERE u.state = 'void'",
    "UPDATE t AS a SET n = 1 FROM u AS c WHERE c.code = 'x' AND c.active",
    'DELETE FROM t WHERE x > y',
    'DELETE FROM t WHERE EXISTS (SELECT 1 FROM u)',
    "DELETE FROM t WHERE name LIKE '%_%'",
    "DELETE FROM t WHERE name ILIKE concat('%', '')",
    "DELETE FROM t WHERE name LIKE '%' ESCAPE '!'",
    'INSERT INTO t (id, n) SELECT id, 0 FROM u ON CONFLICT (id) DO UPDATE SET n = excluded.n',
  ])('asks about a condition that is not known to restrict the table, also with a claim: %s', async (sql) => {
    expect(await fires('sql_unkeyed_write', sql, { metadata: { affected_rows: 1 } })).toBe(true);
  });

  it.each([
    "DELETE FROM t WHERE made < now() - interval '1 day'",
    "DELETE FROM t WHERE made BETWEEN '2026-01-01' AND '2026-02-01' AND length(x) >= 0",
    'DELETE FROM t WHERE 1000 < n',
    "DELETE FROM t WHERE born > '1969-07-20' AND 7 = 7",
    "DELETE FROM t WHERE until = 'infinity'",
    'DELETE FROM t WHERE n BETWEEN 0 AND 9',
    'DELETE FROM t WHERE hidden OR x IS NULL',
    "DELETE FROM t WHERE name LIKE 'tmp%'",
    "DELETE FROM t WHERE name ILIKE '%' || 'tmp' || '%' OR name LIKE '\\%'",
    'DELETE FROM t WHERE owner IN (SELECT id FROM u WHERE gone)',
    "UPDATE t SET n = 1 FROM u WHERE u.id = t.owner AND u.name = 'a'",
    'INSERT INTO t (id, n) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET n = 2',
  ])('leaves the number of rows to the claim: %s', async (sql) => {
    expect(await fires('sql_unkeyed_write', sql, { metadata: { affected_rows: 5 } })).toBe(false);
  });

  it('reads WITH queries and DO blocks, and not the bodies of functions', async () => {
    expect(await fires('sql_unkeyed_write', 'WITH x AS (DELETE FROM t WHERE id > 1 RETURNING id) SELECT 1')).toBe(true);
    expect(await fires('sql_unkeyed_write', 'DO $$ BEGIN DELETE FROM t WHERE id > 1; END $$')).toBe(true);
    expect(
      await fires('sql_unkeyed_write', 'CREATE FUNCTION f() RETURNS int BEGIN ATOMIC DELETE FROM t WHERE id > 1; END'),
    ).toBe(false);
  });
});

describe('sql_affected_rows without a claim', () => {
  const staged = (...rows: readonly (readonly [string, number])[]) =>
    stagingRecord({
      statements: rows.map(([command, rowCount]) => ({ sha: 'a'.repeat(64), command, rowCount })),
      tables: [
        {
          table: 't',
          inserted: 0,
          updated: rows.reduce((sum, [, count]) => sum + count, 0),
          deleted: 0,
          touchedSha: null,
          keyed: true,
          volatileColumns: [],
        },
      ],
    });
  const outcome = async (sql: string, rows: readonly (readonly [string, number])[], more: object = {}) => {
    const { status, reasonCode } = await run('sql_affected_rows', sql, { staging: staged(...rows), ...more });
    return status === 'ALLOW' ? 'ALLOW' : reasonCode;
  };

  it('lets a key select one row for each value, which a unique key does', async () => {
    const sql = 'UPDATE t SET a = 1 WHERE id IN (1, 2, 3)';
    expect(await outcome(sql, [['UPDATE', 3]])).toBe('ALLOW');
    expect(await outcome(sql, [['UPDATE', 4]])).toBe('unclaimed_rows');
    expect(await outcome("UPDATE t SET a = 1 WHERE status = 'open'", [['UPDATE', 2]])).toBe('unclaimed_rows');
  });

  it('lets one row pass without a key, and more if the bundle or a claim says so', async () => {
    const sql = 'DELETE FROM t WHERE id > 5';
    expect(await outcome(sql, [['DELETE', 1]])).toBe('ALLOW');
    expect(await outcome(sql, [['DELETE', 2]])).toBe('unclaimed_rows');
    expect(await outcome(sql, [['DELETE', 2]], { config: { maxUnclaimedRows: 2 } })).toBe('ALLOW');
    expect(await outcome(sql, [['DELETE', 2]], { metadata: { affected_rows: 2 } })).toBe('ALLOW');
    expect(await outcome(sql, [['DELETE', 1001]], { metadata: { affected_rows: 1001 } })).toBe('too_many_rows');
  });

  it('adds the rows of all statements', async () => {
    const sql = 'DELETE FROM t WHERE id > 5; DELETE FROM t WHERE id < 3';
    expect(await outcome(sql, [['DELETE', 1], ['DELETE', 1]])).toBe('unclaimed_rows'); // prettier-ignore
    expect(await outcome('INSERT INTO t (a) SELECT 1 FROM u', [['INSERT', 50]])).toBe('ALLOW');
  });
});
