import { createHash } from 'node:crypto';
import packageJson from '../../../../package.json';
import { extractSqlFacts } from '../../../../source-tools/sql/facts/extract-sql-facts';
import type { Span } from '../../../../policy/contracts/facts';
import { SQL_PARSER } from '../../../../source-tools/sql/facts/sql-parser';
import { factsOf } from '../rules/support/run-rule';

/** Text of the span by lines and UTF-16 columns, like a reader of the evidence sees it. */
function cut(text: string, { startLine, startColumn, endLine, endColumn }: Span): string {
  const lines = text.split('\n');
  const part = lines.slice(startLine - 1, endLine);
  if (part.length === 0) return '';
  part[part.length - 1] = (part.at(-1) as string).slice(0, endColumn - 1);
  part[0] = (part[0] as string).slice(startColumn - 1);
  return part.join('\n');
}

describe('spans', () => {
  it.each([
    ['after letters of two, three and four bytes', "SELECT 'é€𝒳'; DELETE FROM t", 'DELETE FROM t'],
    ['on a later line, after CRLF', '-- ünï\r\nSELECT 1;\r\n  DELETE FROM "T 𝒳"', 'DELETE FROM "T 𝒳"'],
    ['after a comment between words', 'DELETE /* x */ FROM t', 'DELETE /* x */ FROM t'],
    ['of a qualified name', 'WITH d AS (DELETE FROM ONLY a . b RETURNING 1) SELECT 1', 'DELETE FROM ONLY a . b'],
    ['in a dollar-quoted body', 'DO $body$\nBEGIN\n  -- é\n  DELETE FROM t;\nEND $body$', 'DELETE FROM t'],
    ['in a body in plain quotes', "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'DELETE FROM t'", 'DELETE FROM t'],
    [
      'in an escaped body: the full body',
      "DO 'BEGIN DELETE FROM t; RAISE NOTICE ''x''; END'",
      "'BEGIN DELETE FROM t; RAISE NOTICE ''x''; END'",
    ],
    [
      'in dynamic SQL: the EXECUTE',
      "DO $$ BEGIN NULL; EXECUTE 'DELETE ' || 'FROM t'; END $$",
      "EXECUTE 'DELETE ' || 'FROM t'",
    ],
  ])('are lines and UTF-16 columns of the staged bytes: %s', async (_what, text, wanted) => {
    const { dml } = await factsOf(text);
    expect(cut(text, (dml.at(-1) as (typeof dml)[number]).span)).toBe(wanted);
  });

  it('of the same statement twice on one line differ', async () => {
    const text = 'DO $$ BEGIN DELETE FROM t; DELETE FROM t; END $$';
    const { dml } = await factsOf(text);
    expect(dml.map((d) => d.span.startColumn)).toEqual([13, 28]);
  });

  it('of statements exclude whitespace, comments and the semicolon, and the hash covers exactly these bytes', async () => {
    const text = "/* é */ SELECT 'ü' ; -- x\n UPDATE t SET a = 1 WHERE b RETURNING a /* y */ ;;";
    const { statements } = await factsOf(text);
    const bytes = Buffer.from(text);
    const texts = statements.map((s) => bytes.subarray(s.start, s.end).toString());
    expect(texts).toEqual(["SELECT 'ü'", 'UPDATE t SET a = 1 WHERE b RETURNING a']);
    expect(statements.map((s) => s.sha)).toEqual(texts.map((t) => createHash('sha256').update(t).digest('hex')));
    expect(statements.map((s) => cut(text, s.span))).toEqual(texts);
    expect(statements.map((s) => [s.command, s.hasReturning, s.readOnly])).toEqual([
      ['SELECT', false, true],
      ['UPDATE', true, false],
    ]);
  });
});

it('names the statement of a long identifier, regardless of empty statements and of semicolons in a body', async () => {
  const long = 'a'.repeat(64);
  const text = `;; SELECT 1;; CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END; DROP TABLE ${long};;`;
  expect((await factsOf(text)).longIdentifiers).toMatchObject([{ statement: 2, path: 'statement 3' }]);
});

it('gives the same facts for the same bytes in 100 runs [G23]', async () => {
  const raw = new TextEncoder().encode(
    "DO $$ BEGIN EXECUTE 'DROP TABLE a'; PERFORM f(1); END $$; WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
  );
  const first = JSON.stringify(await extractSqlFacts(raw));
  for (let i = 0; i < 100; i++) expect(JSON.stringify(await extractSqlFacts(raw))).toBe(first);
});

it('reports the installed parser version, so that another version changes the logic hash [T11]', () => {
  expect(SQL_PARSER.version.split('+')[0]).toBe(packageJson.dependencies['libpg-query']);
  expect(packageJson.dependencies['libpg-query']).toMatch(/^\d+\.\d+\.\d+$/);
});
