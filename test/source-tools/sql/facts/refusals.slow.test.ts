import {
  extractSqlFacts,
  MAX_NESTED_PARSES,
  MAX_SQL_BYTES,
  MAX_SQL_STATEMENTS,
} from '../../../../source-tools/sql/facts/extract-sql-facts';
import type { FactsRefusal } from '../../../../policy/contracts/facts';

const utf8 = new TextEncoder();

async function refusal(text: string | Uint8Array): Promise<FactsRefusal> {
  const facts = await extractSqlFacts(typeof text === 'string' ? utf8.encode(text) : text);
  if (facts.ok) throw new Error(`expected a refusal of ${String(text).slice(0, 60)}`);
  return facts;
}

const concat = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...(typeof part === 'string' ? utf8.encode(part) : part)]));

describe('refused text', () => {
  it.each([
    ['empty text', '', 'empty'],
    ['whitespace and comments', '  /* DROP TABLE t; */ -- x\n;;', 'empty'],
    ['a NUL byte, after which the parser would stop', 'SELECT 1 \0; DROP TABLE t', 'nul_byte'],
    ['a byte order mark', '\ufeffSELECT 1', 'byte_order_mark'],
    ['invalid UTF-8', concat('SELECT ', [0xc3, 0x28]), 'invalid_utf8'],
    ['an overlong encoding', concat("SELECT '", [0xc0, 0xa7], "'"), 'invalid_utf8'],
    ['a psql command', 'SELECT 1; \\! rm -rf /', 'syntax_error'],
    ['an incomplete statement', 'DELETE FROM', 'syntax_error'],
    ['an unterminated string', "SELECT 'x", 'syntax_error'],
    ['too many bytes', `SELECT '${'x'.repeat(MAX_SQL_BYTES)}'`, 'too_large'],
    ['too many statements', 'SELECT 1;'.repeat(MAX_SQL_STATEMENTS + 1), 'too_many_statements'],
    [
      'too many statements in a body',
      `DO $$ BEGIN ${'PERFORM f(1);\n'.repeat(MAX_NESTED_PARSES + 1)} END $$`,
      'too_many_statements',
    ],
    ['too many tokens', `SELECT ${'1,'.repeat(200_000)}1`, 'too_many_tokens'],
    [
      'too many tokens in all SQL strings together',
      `DO $$ BEGIN ${`EXECUTE 'SELECT ${'1,'.repeat(6000)}1';\n`.repeat(20)} END $$`,
      'too_many_tokens',
    ],
    [
      'too many facts',
      `SELECT 1 FROM ${Array.from({ length: 12_000 }, (_, i) => `t${i}`).join(',')}`,
      'too_many_facts',
    ],
    [
      'too many names in one DROP',
      `DROP TABLE ${Array.from({ length: 12_000 }, (_, i) => `t${i}`).join(',')}`,
      'too_many_facts',
    ],
  ])('is refused: %s', async (_what, text, code) => {
    expect(await refusal(text)).toMatchObject({ ok: false, code });
  });

  it('accepts texts at the limits', async () => {
    expect((await extractSqlFacts(utf8.encode('SELECT 1;'.repeat(MAX_SQL_STATEMENTS)))).ok).toBe(true);
    expect((await extractSqlFacts(utf8.encode(`SELECT '${'x'.repeat(MAX_SQL_BYTES - 9)}'`))).ok).toBe(true);
  });

  it('reports the position, and never quotes the text, which may contain a secret', async () => {
    const { code, message, span } = await refusal("SELECT 1;\nSELECT é FROM 'hunter2'");
    expect({ code, span }).toEqual({
      code: 'syntax_error',
      span: { startLine: 2, startColumn: 15, endLine: 2, endColumn: 24 },
    });
    expect(message).toBe('syntax error');
  });
});

describe('text that would take the parser too long or overflow its stack', () => {
  const n = 50_000;
  it.each([
    ['a long chain of operators', `SELECT ${'1+'.repeat(n / 2)}1`, 'too_deep'],
    ['brackets', `SELECT ${'('.repeat(n / 2)}1${')'.repeat(n / 2)}`, 'too_deep'],
    ['NOT', `SELECT ${'not '.repeat(n)}true`, 'too_deep'],
    ['casts', `SELECT 1${'::int'.repeat(n / 2)}`, 'too_deep'],
    ['CASE in CASE', `SELECT ${'case when true then '.repeat(n / 10)}1${' end'.repeat(n / 10)}`, 'too_deep'],
    ['UNION', `SELECT 1${' union select 1'.repeat(n / 10)}`, 'too_deep'],
    ['joins', `SELECT 1 FROM a${' join a using (x)'.repeat(n / 10)}`, 'too_deep'],
    ['calls in calls', `SELECT ${'f('.repeat(n / 4)}1${')'.repeat(n / 4)}`, 'too_deep'],
    [
      'a DO body of IF in IF',
      `DO $$ BEGIN ${'IF true THEN '.repeat(n / 50)} NULL; ${'END IF; '.repeat(n / 50)} END $$`,
      'too_deep',
    ],
    ['SQL strings in SQL strings', nestedDo(12), 'too_deep'],
    [
      'comments that start in one run of operator characters, which the server’s scanner reads quadratically',
      '/**/'.repeat(n),
      'too_complex',
    ],
    ['nested comments', '/*'.repeat(n), 'too_complex'],
    ['a run of plus characters', `SELECT ${'+'.repeat(n)}1`, 'too_complex'],
    [
      'a run of plus characters after a string that continues on the next line with an escaped quote',
      `SELECT E'x' -- '\n\t'\\'' || ${'+'.repeat(n)}1`,
      'too_complex',
    ],
    [
      'a run of plus characters after a dollar quote next to a number',
      `SELECT 1$$'$$ || ${'+'.repeat(n)}1`,
      'too_complex',
    ],
  ])('is refused before it is parsed: %s', async (_what, text, code) => {
    const started = process.cpuUsage();
    expect((await refusal(text)).code).toBe(code);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(30_000);
  });

  const deep = 480;
  it.each([
    ['operators', `SELECT ${'1+'.repeat(deep)}1`],
    ['brackets', `SELECT ${'('.repeat(deep)}1${')'.repeat(deep)}`],
    ['NOT', `SELECT ${'not '.repeat(deep)}true`],
    ['CASE in CASE', `SELECT ${'case when true then '.repeat(deep)}1${' end'.repeat(deep)}`],
    ['subqueries', `SELECT * FROM ${'(select * from '.repeat(deep / 3)}a${') x'.repeat(deep / 3)}`],
    ['a flat condition with many operands', `SELECT 1 WHERE ${'a = 1 AND '.repeat(5000)}true`],
    ['a flat list of many values', `SELECT 1 WHERE a IN (${'1, '.repeat(5000)}1)`],
    ['a flat CASE with many branches', `SELECT CASE ${"WHEN a = 1 THEN 'x' || b ".repeat(3000)} END`],
    [
      'a banner of comment characters',
      `/*${'*'.repeat(200)}*/\n`.repeat(1000) + '-- ' + '-'.repeat(5000) + '\nSELECT 1',
    ],
  ])('is read if it is long but not deep: %s', async (_what, text) => {
    const facts = await extractSqlFacts(utf8.encode(text));
    expect(facts.ok ? 'ok' : facts.code).toBe('ok');
  });
});

/** DO in a string in DO, nested to this many levels. */
function nestedDo(levels: number): string {
  let body = 'SELECT 1';
  for (let i = 0; i < levels; i++) body = `DO $a${i}$ BEGIN EXECUTE $b${i}$${body}$b${i}$; END $a${i}$`;
  return body;
}
