import fc from 'fast-check';
import { lex, Tok } from '../../../../source-tools/sql/facts/lexer';
import { sqlExamples, sqlPostgresPack } from '../../../../source-tools/sql/rules';
import { factsOf, inputFor } from './support/run-rule';

const pack = sqlPostgresPack.filter((d) => !d.reads.includes('staging'));

async function firing(sql: string): Promise<readonly string[]> {
  const input = await inputFor(sql);
  return pack
    .filter((d) => d.evaluate?.({ ...input, config: d.config.parse({}) }).status !== 'ALLOW')
    .map((d) => d.implementation);
}

/** Between two tokens PostgreSQL takes any of these for a blank. */
const BLANKS = [' ', '\n', '\t ', '/**/', '/* DROP TABLE x; */', '-- COMMIT;\n', '/* /* nested */ */', '\r\n', '\f'];

/** The same tokens with other blanks and other letters: to the server, the same text. */
function rewritten(sql: string, choices: readonly number[]): string {
  const bytes = new TextEncoder().encode(sql);
  const { count, kinds, starts, ends } = lex(bytes);
  let out = '';
  for (let i = 0; i < count; i++) {
    const text = new TextDecoder().decode(bytes.subarray(starts[i], ends[i]));
    const choice = choices[i % choices.length] as number;
    const touches = i > 0 && starts[i] === ends[i - 1];
    // A comment right behind an operator could become part of it; two tokens that touched go on touching.
    const afterOperator = i > 0 && kinds[i - 1] === Tok.Operator ? ' ' : '';
    const gap = touches ? '' : afterOperator + (BLANKS[choice % BLANKS.length] as string);
    out += `${i === 0 ? '' : gap}${kinds[i] === Tok.Word && /^[a-z]+$/i.test(text) && choice % 2 === 0 ? text.toUpperCase() : text}`;
  }
  return out;
}

const texts = Object.values(sqlExamples)
  .filter((e) => e.config === undefined && e.rows === undefined && !e.bad.includes('\\'))
  .flatMap((e) => [e.bad, e.good]);

it('fires the same rules however a text is spaced, commented and spelled [G23]', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...texts),
      fc.array(fc.nat(100), { minLength: 1, maxLength: 12 }),
      async (sql, choices) => {
        expect(await firing(rewritten(sql, choices))).toEqual(await firing(sql));
      },
    ),
    { numRuns: 150 },
  );
});

/** Ways to put a statement into another; none of them hides it. Each level has its own quotes. */
const WRAPS: readonly ((inner: string, level: number) => string)[] = [
  (s, n) => `DO $w${n}$ BEGIN ${s}; END $w${n}$`,
  (s, n) => `DO $x${n}$ BEGIN IF true THEN NULL; ELSE ${s}; END IF; END $x${n}$`,
  (s, n) => `CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $y${n}$ ${s} $y${n}$`,
  (s, n) => `CREATE PROCEDURE p() LANGUAGE plpgsql AS $z${n}$ BEGIN ${s}; END $z${n}$`,
  (s, n) => `DO $v${n}$ BEGIN EXECUTE $q${n}$ ${s} $q${n}$; END $v${n}$`,
  (s) => `SELECT 1; ${s}`,
  (s) => `EXPLAIN ANALYZE ${s}`,
  (s) => `PREPARE q AS ${s}`,
];

it('finds a DELETE below any pile of bodies', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(4), { maxLength: 4 }), fc.nat(WRAPS.length - 1), async (outer, innermost) => {
      const wrapped = [innermost, ...outer].reduce(
        (sql, choice, level) => (WRAPS[choice] as (typeof WRAPS)[number])(sql, level),
        'DELETE FROM target',
      );
      const { dml, dynamicSql } = await factsOf(wrapped);
      const found = dml.some((d) => d.kind === 'delete' && d.table.name === 'target' && d.where === 'absent');
      // What PL/pgSQL cannot hold (EXPLAIN as a statement of its own) must at least be said to be unread.
      expect(found || dynamicSql.some((d) => !d.constant)).toBe(true);
    }),
    { numRuns: 100 },
  );
});
