import { oneLineTitle } from '../../policy/text/change-title';
import { sha256Hex } from '../../policy/contracts/hash';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import { SOURCE_TOOLS } from '../../source-tools';
import { sourceToolRegistry } from '../../source-tools/define';
import { stagingRecord } from '../../dev/staging-record';
import { plainTool } from '../support/source-tools';

const tools = sourceToolRegistry([...SOURCE_TOOLS, plainTool]);

async function titleOf(sourceTool: string, text: string, staging: StagingRecord | null = null): Promise<string> {
  const raw = new TextEncoder().encode(text);
  const diff = { sourceTool, raw, diffSha: sha256Hex(raw), metadata: { title: 'harmless', affected_rows: 1 } };
  const tool = tools.get(sourceTool)!;
  return tool.title(await tool.facts(diff), diff, staging);
}

const counted = (sql: string, rowCount: number, more: Partial<StagingRecord> = {}): StagingRecord =>
  stagingRecord({
    statements: [{ sha: sha256Hex(new TextEncoder().encode(sql)), command: 'UPDATE', rowCount }],
    ...more,
  });

it.each([
  ['UPDATE invoices SET paid = true', 'UPDATE invoices'],
  ['insert into public.a values (1); DELETE FROM "Odd Name" WHERE id = 1', 'INSERT INTO a, DELETE FROM "Odd Name"'],
  ['SELECT 1', 'SELECT'],
  ['SELECT 1; UPDATE a SET x = 1 WHERE id = 1', 'UPDATE a'],
  ['UPDATE a SET x = 1 WHERE id = 1; SELECT purge(1)', 'UPDATE a, SELECT'],
  ['UPDATE a SET x = 1 WHERE id = 1; SELECT (4711).pg_terminate_backend', 'UPDATE a, SELECT'],
  ['CREATE POLICY p ON a USING (true)', 'CREATE POLICY a'],
  ['WITH gone AS (DELETE FROM a RETURNING *) SELECT * FROM gone', 'SELECT that writes to a'],
  ['DROP TABLE a, b, c, d, e', 'DROP TABLE a, b, c and 2 more'],
  ['TRUNCATE audit.log', 'TRUNCATE TABLE audit.log'],
  ['CREATE TABLE a (x int)', 'CREATE TABLE a'],
  ['CREATE INDEX i ON a (x)', 'CREATE INDEX i on a'],
  ["DO $$ BEGIN EXECUTE 'DELETE FROM ' || current_user; END $$", 'DO with dynamic SQL'],
  ['UPDATE a SET', 'SQLDryRun: 12 bytes that cannot be read'],
])('the title of %p is %p', async (sql, title) => {
  expect(await titleOf('SQLDryRun', sql)).toBe(title);
});

it('counts the rows that the dry run measured, and none that were claimed or not executed', async () => {
  const sql = 'UPDATE invoices SET paid = true';
  const title = (staging: StagingRecord): Promise<string> => titleOf('SQLDryRun', sql, staging);
  expect(await title(counted(sql, 40))).toBe('UPDATE invoices: 40 rows');
  expect(await title(counted(sql, 1))).toBe('UPDATE invoices: 1 row');
  expect(await title(counted(sql, 40, { origin: 'claimed' }))).toBe('UPDATE invoices');
  expect(await title(counted(sql, 0, { reason: 'not_rehearsed' }))).toBe('UPDATE invoices');
  expect(await title(counted('another text', 40))).toBe('UPDATE invoices');
});

it('counts the rows of each statement, also if the same statement occurs twice', async () => {
  const sql = 'DELETE FROM a WHERE id > 5';
  const [statement] = counted(sql, 3).statements;
  const staging = stagingRecord({
    statements: [
      { ...statement!, rowCount: 3 },
      { ...statement!, rowCount: 0 },
    ],
  });
  expect(await titleOf('SQLDryRun', `${sql}; ${sql}`, staging)).toBe('DELETE FROM a: 3 rows, DELETE FROM a: 0 rows');
});

it('names the rows of a document, the files of a patch, the place of a request and the resources of a plan', async () => {
  const row = { table: 'public.stock', op: 'update', key: { id: 1 }, expect: { n: 1 }, set: { n: 2 } };
  expect(await titleOf('SQLCAS', JSON.stringify({ rows: [row, { ...row, key: { id: 2 } }] }))).toBe(
    'UPDATE stock: 2 rows',
  );
  const file = (name: string): string =>
    `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -1 +1,2 @@\n-a\n+b\n+c\n`;
  expect(await titleOf('GitPatch', file('src/a.ts'))).toBe('git: src/a.ts, +2 −1');
  expect(await titleOf('GitPatch', file('a') + file('b'))).toBe('git: 2 files, +4 −2');
  const request = { method: 'PATCH', url: 'https://u:p@API.example.com:8443/v1/a%20b?token=secret', body: {} };
  const shown = await titleOf('HTTPPatch', JSON.stringify({ ...request, url: request.url.replace('u:p@', '') }));
  expect(shown).toBe('PATCH https://api.example.com:8443/v1/a b?token');
  const encoded = { ...request, url: 'https://api.example.com/a%3Fb%23c%25?d%26e%3Df=1' };
  expect(await titleOf('HTTPPatch', JSON.stringify(encoded))).toBe(
    'PATCH https://api.example.com/a%3Fb%23c%25?d%26e%3Df',
  );
  const change = (actions: string[], i: number): object => ({
    address: `a.b${i}`,
    mode: 'managed',
    type: 'a',
    name: `b${i}`,
    provider_name: 'p',
    change: { actions, before: null, after: null, after_unknown: {}, before_sensitive: false, after_sensitive: false },
  });
  const plan = {
    format_version: '1.2',
    terraform_version: '1.9.0',
    resource_changes: [change(['create'], 0), change(['delete'], 1), change(['no-op'], 2)],
    configuration: { root_module: {} },
  };
  expect(await titleOf('TerraformPlan', JSON.stringify(plan))).toBe('terraform: 1 to destroy, 1 to create');
  expect(await titleOf(plainTool.sourceTool, '{}')).toBe(`${plainTool.sourceTool}: 2 bytes`);
});

it('is one bounded line without hidden characters, and the same if it is made twice', async () => {
  const title = await titleOf('SQLDryRun', `UPDATE "a\u202e\u001b[2J\n9. ok" SET x = 1`);
  expect(title).toBe('UPDATE "a\\u{202e}\\u{1b}[2J\\u{a}9. ok"');
  for (const text of ['a\u202eb\n\tc', 'x'.repeat(500), '\u{e0041}'.repeat(100), 'a\ud800b']) {
    const once = oneLineTitle(text);
    expect(once.length).toBeLessThanOrEqual(120);
    expect(once).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    expect(oneLineTitle(once)).toBe(once);
  }
});

test.each([
  [
    'HTTPPatch',
    JSON.stringify({ method: 'POST', url: 'https://hooks.example.com/services/T0/k3J9xQz7LmP2vR8w', body: {} }),
    'k3J9xQz7LmP2vR8w',
  ],
  [
    'HTTPPatch',
    JSON.stringify({ method: 'PUT', url: `https://api.example.com/ghp_${'a1B2c3D4e5F6'.repeat(3)}/x`, body: {} }),
    'a1B2c3D4',
  ],
])('the title of %s contains no secret of its bytes [P12]', async (tool, text, secret) => {
  expect(await titleOf(tool, text)).not.toContain(secret);
});
