import fc from 'fast-check';
import type { Evaluation } from '../../../../policy/bundle/evaluate';
import type { Metadata } from '../../../../policy/contracts/diff';
import { extractSqlFacts } from '../../../../source-tools/sql/facts/extract-sql-facts';
import { starterEvaluator } from '../../../support/compiled-plan';
import { OTHER_STATEMENTS } from './support/other-statements';
import { bytesOf } from '../../../policy/rules/support/run-pack-rule';
import { run } from './support/run-rule';

const starter = starterEvaluator('SQLDryRun');

/** What the starter bundle for SQL decides about a text without the record of a dry run. */
async function evaluate(sql: string, metadata: Metadata = {}): Promise<Evaluation> {
  const raw = bytesOf(sql);
  return starter({ raw, metadata, facts: await extractSqlFacts(raw), staging: null, at: null });
}

/** Names of the rules that fired. */
function firedRules({ findings }: Evaluation): readonly string[] {
  return findings.filter(({ status }) => status !== 'ALLOW').map(({ validator_id: id }) => id.replace('guardian.', ''));
}

describe.each(Object.entries(OTHER_STATEMENTS))('of %s', (_group, texts) => {
  it.each(texts)('a person decides about: %s', async (sql) => {
    const outcome = await evaluate(sql);
    expect([outcome.outcome, firedRules(outcome)]).not.toEqual(['COMMIT', expect.anything()]);
    // The allowlist alone is enough.
    expect(await run('sql_statement_not_allowed', sql)).toMatchObject(
      sql === 'WITH gone AS (DELETE FROM orders WHERE id = 1 RETURNING id) SELECT * FROM gone'
        ? { status: 'ALLOW' } // sql_hidden_write asks
        : { status: 'BLOCK', reasonCode: 'statement_not_allowed' },
    );
  });
});

/** What agents do every day. */
const ORDINARY = [
  'SELECT 1',
  'SELECT * FROM orders WHERE id = 7',
  'SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.paid ORDER BY o.id DESC LIMIT 10',
  'SELECT count(*), sum(total), max(made) FROM orders GROUP BY customer_id HAVING count(*) > 1',
  "SELECT date_trunc('day', made), coalesce(note, '-'), total::numeric(10, 2) FROM orders WHERE made > now() - interval '1 day'",
  'WITH recent AS (SELECT id FROM orders WHERE made > current_date) SELECT * FROM recent UNION ALL SELECT 0',
  'SELECT row_number() OVER (PARTITION BY customer_id ORDER BY made) FROM orders',
  "SELECT data->>'name', data @> '{\"a\": 1}', tags[1] FROM orders WHERE name ILIKE 'a%' AND id = ANY ('{1,2}')",
  'SELECT CASE WHEN total > 10 THEN upper(name) ELSE NULL END FROM orders WHERE EXISTS (SELECT 1 FROM customers)',
  'SELECT id FROM jobs WHERE done = false ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED',
  "INSERT INTO orders (id, note) VALUES (1, 'a'), (2, 'b')",
  'INSERT INTO orders (id, made) VALUES (1, now()) ON CONFLICT (id) DO NOTHING',
  "INSERT INTO orders (id, note) VALUES (1, 'a') ON CONFLICT (id) DO UPDATE SET note = excluded.note RETURNING id",
  "INSERT INTO orders (id) VALUES (1); INSERT INTO order_lines (order_id, sku) VALUES (1, 'a')",
  'INSERT INTO orders (id, token) VALUES (gen_random_uuid(), gen_random_uuid()::text)',
  'INSERT INTO orders (id, note) SELECT uuidv7(), name FROM customers WHERE id = 7',
  'UPDATE orders SET paid = true WHERE id = 7; SELECT paid FROM orders WHERE id = 7',
  "INSERT INTO settings (key, value) VALUES ('theme', '{\"dark\": true}'::jsonb)",
  'UPDATE orders SET paid = true WHERE id = 7',
  'UPDATE orders SET paid = true, made = now() WHERE id IN (7, 8, 9)',
  "UPDATE orders SET note = 'x' || note WHERE id = 7 AND version = 3 RETURNING *",
  "UPDATE orders AS o SET total = o.total + l.price FROM order_lines l WHERE l.order_id = o.id AND o.id = 7 AND l.sku = 'a'",
  "UPDATE public.orders SET data = jsonb_set(data, '{a}', '1') WHERE public.orders.id = 7 OR id = 8",
  'UPDATE orders SET (a, b) = (1, 2) WHERE (tenant, id) = (3, 7)',
  'UPDATE orders SET total = (SELECT sum(price) FROM order_lines WHERE order_id = 7) WHERE id = 7',
  'UPDATE jobs SET done = true WHERE id = (SELECT id FROM jobs WHERE done = false ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)',
  'WITH next AS (SELECT j.id FROM jobs j WHERE NOT j.done LIMIT 5 FOR UPDATE SKIP LOCKED) SELECT id FROM next',
  'UPDATE jobs AS a SET done = true WHERE a.id = (SELECT b.id FROM jobs b WHERE b.done = false LIMIT 1 FOR UPDATE SKIP LOCKED)',
  'DELETE FROM orders WHERE id = 7',
  "DELETE FROM jobs WHERE id = ANY ('{7,8}'::bigint[])",
  'SELECT id FROM orders WHERE total BETWEEN 5 AND 10 AND id NOT BETWEEN SYMMETRIC 9 AND 7',
  'UPDATE orders SET paid = true WHERE id = 7 AND version BETWEEN 1 AND 3',
  "INSERT INTO places (name, at) VALUES ('here', point(1.5, 2))",
  "DELETE FROM sessions WHERE token = 'abc' AND expires < now()",
  'DELETE FROM order_lines WHERE (order_id, line) IN ((7, 1), (7, 2))',
  'DELETE FROM orders WHERE id = ANY (ARRAY[1, 2, 3]::bigint[])',
  'DELETE FROM orders USING customers c WHERE c.id = orders.customer_id AND orders.id = 7',
];

it.each(ORDINARY)('commits without a question: %s', async (sql) => {
  const outcome = await evaluate(sql);
  expect([outcome.outcome, firedRules(outcome).filter((name) => name !== 'sql_insert_without_columns')]).toEqual([
    'COMMIT',
    [],
  ]);
});

it('knows which kinds and functions the bundle names', async () => {
  const config = { kinds: ['SELECT', 'CREATE INDEX'], functions: ['price', 'shop.discount'] };
  const status = async (sql: string): Promise<string> =>
    (await run('sql_statement_not_allowed', sql, { config })).status;
  expect(await status('CREATE INDEX i ON orders (id)')).toBe('ALLOW');
  expect(await status('CREATE INDEX i ON orders (price(id))')).toBe('ALLOW');
  expect(await status('CREATE INDEX i ON orders (cost(id))')).toBe('BLOCK');
  expect(await status('SELECT price(1), shop.discount(2)')).toBe('ALLOW');
  expect(await status('SELECT evil.price(1)')).toBe('BLOCK');
  expect(await status('SELECT discount(1)')).toBe('BLOCK');
  expect(await status('UPDATE orders SET paid = true WHERE id = 7')).toBe('BLOCK');
});

it('knows a random UUID only in an INSERT or a MERGE, even if the bundle names other kinds of statements', async () => {
  const status = async (sql: string): Promise<string> =>
    (await run('sql_statement_not_allowed', sql, { config: { kinds: ['MERGE', 'INSERT', 'CREATE TABLE AS'] } })).status;
  const merge = 'MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED THEN INSERT (id) VALUES (gen_random_uuid())';
  expect(await status(merge)).toBe('ALLOW');
  expect(await status(merge.replace('(id)', '(id.part)'))).toBe('BLOCK');
  const create = 'CREATE TABLE x AS SELECT id FROM orders ORDER BY gen_random_uuid() LIMIT 1';
  expect(await status(create)).toBe('BLOCK');
  const inserts = `INSERT INTO t (id) VALUES ${Array.from({ length: 60 }, () => '(gen_random_uuid())').join()}`;
  expect(await status(`${inserts}; ${create}`)).toBe('BLOCK');
});

it.each([
  ["SET lock_timeout = '5s'", 'ALLOW'],
  ['SET LOCAL statement_timeout TO 1000', 'ALLOW'],
  ['RESET work_mem', 'ALLOW'],
  ['SET search_path = evil, pg_catalog', 'BLOCK'],
  ['SET LOCAL row_security = off', 'BLOCK'],
  ["SET TIME ZONE 'UTC'", 'BLOCK'],
  ['SET TRANSACTION READ WRITE', 'BLOCK'],
  ['RESET ALL', 'BLOCK'],
])(
  'lets SET, if the bundle names it, change only settings that do not alter what statements mean: %s',
  async (sql, status) => {
    expect(await run('sql_statement_not_allowed', sql, { config: { kinds: ['SET', 'RESET'] } })).toMatchObject({
      status,
    });
  },
);

it.each([
  ['SELECT (5::float8).pg_sleep', 'BLOCK'],
  ['UPDATE orders SET paid = true WHERE id = 7 AND (4711).pg_terminate_backend', 'BLOCK'],
  ["SELECT a.nextval FROM unnest('{ids}'::regclass[]) a", 'BLOCK'],
  ['SELECT a.pg_typeof FROM generate_series(1, 2) a', 'ALLOW'],
])('reads the name of a system function after a dot as a call: %s', async (sql, status) => {
  expect((await run('sql_statement_not_allowed', sql)).status).toBe(status);
});

it('names the function and its place', async () => {
  const result = await run('sql_statement_not_allowed', 'SELECT\n  my_function(1), now()');
  expect(result).toMatchObject({
    reason: '"my_function"() is not on the list of functions without side effects (statement 1)',
    details: { places: [{ line: 2, column: 3 }] },
  });
});

it('reports an error of syntax once', async () => {
  const outcome = await evaluate('SELECT 1;\n SELEC 2');
  expect([outcome.outcome, firedRules(outcome).map((id) => id.replace('safety.', ''))]).toEqual([
    'FORBID',
    ['sql_parse_failure'],
  ]);
  expect(outcome.unread.length).toBeGreaterThan(30);
});

/** Places of an ordinary statement for an expression. */
const PLACES = [
  (e: string) => `SELECT ${e} FROM orders`,
  (e: string) => `SELECT id FROM orders WHERE note = 'a' OR ${e} IS NOT NULL`,
  (e: string) => `INSERT INTO orders (id, note) VALUES (1, ${e})`,
  (e: string) => `INSERT INTO orders (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET note = ${e}`,
  (e: string) => `UPDATE orders SET note = coalesce(${e}, 'a') WHERE id = 7`,
  (e: string) => `UPDATE orders SET note = 'a' WHERE id = 7 AND ${e} = 1`,
  (e: string) => `DELETE FROM orders WHERE id = 7 RETURNING ${e}`,
  (e: string) => `SELECT max(id) FILTER (WHERE ${e} = 1) OVER (ORDER BY ${e}) FROM orders LIMIT 3`,
  (e: string) => `WITH a AS (SELECT ARRAY[${e}]) SELECT CASE WHEN true THEN 1 END FROM a, LATERAL (SELECT ${e}) b`,
  (e: string) => `SELECT * FROM orders o JOIN customers c ON c.id = (SELECT count(*) FROM orders GROUP BY ${e})`,
];
const Name = fc.stringMatching(/^[a-z][a-z_]{6,14}[0-9]$/);

it('never lets a function or operator that is not listed commit without a question, at any place of a statement', async () => {
  const expression = fc.oneof(
    Name.map((name) => `${name}(1)`),
    fc.tuple(Name, Name).map(([schema, name]) => `${schema}.${name}(DISTINCT 1)`),
    Name.map((name) => `lower(trim(${name}('a')))`),
    fc.constantFrom('lower', 'now', 'coalesce_', 'count').map((name) => `${name}_x.${name}(1)`),
    fc.constantFrom('<=>', '===', '@#@', '~~~', '%%', '|=|').map((name) => `(1 ${name} 2)`),
    fc.constantFrom('CURRENT_USER', 'SESSION_USER', 'CURRENT_ROLE', 'CURRENT_CATALOG', 'CURRENT_SCHEMA', 'USER'),
    fc.constantFrom('xmlforest(1 AS a)', "xmlparse(content 'a')", "xmlroot('<a/>', version '1.0')"),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...PLACES), expression, async (place, e) => {
      const { outcome } = await evaluate(place(e), { affected_rows: 1 });
      return outcome !== 'COMMIT';
    }),
    { numRuns: 300 },
  );
});

it.each([
  ['the value of an existing row', 'UPDATE orders SET token = gen_random_uuid() WHERE id = 7'],
  [
    'the value of a row that exists already',
    'INSERT INTO orders (id) VALUES (7) ON CONFLICT (id) DO UPDATE SET token = gen_random_uuid()',
  ],
  ['one character', 'INSERT INTO orders (id, state) VALUES (7, gen_random_uuid()::text::char(1))'],
  ['text with a length', 'INSERT INTO orders (id, state) VALUES (7, gen_random_uuid()::varchar(1))'],
  ['a value of a type of the target', 'INSERT INTO orders (id, state) VALUES (7, gen_random_uuid()::state)'],
  ['an array', 'INSERT INTO orders (id, tags) VALUES (7, gen_random_uuid()::text::text[])'],
  ['a part of a column', 'INSERT INTO orders (id, data.token) VALUES (7, gen_random_uuid())'],
  ['an order of rows', 'INSERT INTO orders (token, id) VALUES (uuidv4(), 1), (uuidv4(), 2) ORDER BY 1 LIMIT 1'],
  ['a part of a value', "INSERT INTO orders (id, token) VALUES (7, 'a' || gen_random_uuid())"],
  ['a condition', 'INSERT INTO orders (id) SELECT id FROM customers WHERE token = gen_random_uuid()'],
  ['an order', 'INSERT INTO orders (token, id) SELECT gen_random_uuid(), id FROM customers ORDER BY 1 LIMIT 3'],
  ['the choice of rows', 'INSERT INTO orders (token) SELECT DISTINCT gen_random_uuid() FROM customers'],
  ['a value with an argument', "INSERT INTO orders (token) VALUES (uuidv7(interval '1 day'))"],
  ['a function of another schema', 'INSERT INTO orders (token) VALUES (public.gen_random_uuid())'],
  ['a name after a dot', "SELECT (interval '1 day').uuidv7"],
  ['a read', 'SELECT gen_random_uuid()'],
])('a person decides about a random UUID as %s', async (_, sql) => {
  expect(await run('sql_statement_not_allowed', sql)).toMatchObject({ status: 'BLOCK' });
});
