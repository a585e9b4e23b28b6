import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { diffSizeRule } from '../../../policy/validators/diff-size-rule';
import { PATTERN_ENGINE, patternRule } from '../../../policy/validators/pattern-rule';
import { patternProblem } from '../../../policy/text/pattern-problem';
import { tableWhitelistRule } from '../../../policy/validators/table-whitelist-rule';
import { diffOf } from './fixtures';

describe('PatternRule', () => {
  const ddl = patternRule({ name: 'ddl', forbidden: ['(?i)\\b(DROP|TRUNCATE|GRANT|ALTER)\\b'] });

  test.each(['DROP TABLE users', 'truncate t', 'Grant all on t to x', 'ALTER TABLE t add c int'])(
    'blocks %s [F31]',
    (sql) => {
      expect(ddl.apply(diffOf(sql))).toMatchObject({ approved: false, severity: 'block' });
    },
  );

  test('approves bytes that match nothing, without reason or severity [F31]', () => {
    expect(ddl.apply(diffOf('UPDATE t SET dropped = 1 WHERE id = 2'))).toEqual({
      approved: true,
      reason: '',
      severity: '',
    });
  });

  test('blocks if one of several patterns matches, and lists the index of each match [F31]', () => {
    const rule = patternRule({ name: 'many', forbidden: ['never', 'b+', 'a+'] });
    expect(rule.apply(diffOf('xx aab'))).toMatchObject({
      approved: false,
      details: { matched: ['forbidden[1]', 'forbidden[2]'] },
    });
  });

  test.each([
    ['too many characters', 'x'.repeat(1_000_000), 30],
    ['too many JSON strings', Array.from({ length: 12_000 }, (_, i) => `"s${i}"`).join(','), 1],
  ])('blocks a text with %s, because it was not searched completely [F31]', (_what, text, count) => {
    const rule = patternRule({ name: 'p', forbidden: Array.from({ length: count }, (_, i) => `(?i)never_${i}`) });
    const result = rule.apply(diffOf(text));
    expect(result).toMatchObject({ approved: false, severity: 'block', details: { matched: [], bounded: true } });
    expect(result.reason).toMatch(/too much text to search completely/);
    expect(rule.apply(diffOf(text))).toEqual(result);
  });

  test('reports the matches that were found before the limit', () => {
    const rule = patternRule({ name: 'p', forbidden: ['DROP', ...Array.from({ length: 40 }, (_, i) => `never_${i}`)] });
    const result = rule.apply(diffOf(`DROP ${'x'.repeat(1_000_000)}`));
    expect(result).toMatchObject({ approved: false, details: { matched: ['forbidden[0]'], bounded: true } });
    expect(result.places).toHaveLength(1);
  });

  test('gives the same result for many plain patterns together as for each alone [F31]', () => {
    const word = fc.constantFrom('drop', 'DROP', 'Table', 'x1', 'a-b', '_', 'é');
    const gap = fc.constantFrom(' ', '\n', '/* */', '\t', '', '"', "'", '\\u0044');
    const pattern = fc
      .tuple(
        fc.constantFrom('', '(?i)'),
        fc.constantFrom('', '\\b'),
        fc.array(fc.constantFrom('drop', 'DROP', 'table', '\\s+', '\\s*', ' ', 'a-b', '\\b', 'x1'), {
          minLength: 1,
          maxLength: 4,
        }),
      )
      .map(([flags, border, parts]) => `${flags}${border}${parts.join('')}`)
      .filter((source) => patternProblem(source) === null);
    fc.assert(
      fc.property(
        fc.array(pattern, { minLength: 2, maxLength: 8 }),
        fc.array(fc.tuple(word, gap)),
        (forbidden, text) => {
          const diff = diffOf(text.flat().join(''));
          const matched = forbidden.flatMap((source, i) =>
            patternRule({ name: 'one', forbidden: [source] }).apply(diff).approved ? [] : [`forbidden[${i}]`],
          );
          const together = patternRule({ name: 'all', forbidden }).apply(diff);
          expect(together.approved ? [] : together.details).toEqual(matched.length === 0 ? [] : { matched });
        },
      ),
      { numRuns: 300 },
    );
  });

  test('gives the same result on consecutive calls, regardless of calls in between [T8]', () => {
    const answers = Array.from({ length: 4 }, () => [
      ddl.apply(diffOf('DROP TABLE t')).approved,
      ddl.apply(diffOf('SELECT 1')).approved,
    ]);
    expect(answers).toEqual(Array.from({ length: 4 }, () => [false, true]));
  });

  const dropTable = patternRule({ name: 'drop_table', forbidden: ['(?i)\\bDROP\\s+TABLE\\b'] });
  test.each([
    ['lower case', 'drop table t'],
    ['a comment instead of the space', 'DROP/**/TABLE t'],
    ['a line comment instead of the space', 'DROP -- x\nTABLE t'],
    ['nested comments', 'DROP /* a /* b */ c */ TABLE t'],
    ['a JSON string', JSON.stringify({ sql: 'DROP TABLE t' })],
    ['a JSON escape', '{"sql":"\\u0044ROP TABLE t"}'],
    ['only JSON escapes', '{"sql":"\\u0044\\u0052\\u004f\\u0050\\u0020\\u0054\\u0041\\u0042\\u004c\\u0045 t"}'],
    ['a JSON escape and a comment', '{"sql":"\\u0044ROP/*x*/TABLE t"}'],
    ['an escaped newline that ends a comment', '{"sql":"DROP --x\\nTABLE t"}'],
    ['a JSON key', '{"\\u0044ROP TABLE t":1}'],
    ['JSON inside JSON', JSON.stringify({ result: '{"sql":"\\u0044ROP TABLE t"}' })],
    ['the first of two members with the same name', '{"sql":"\\u0044ROP TABLE t","sql":"SELECT 1"}'],
    ['invalid JSON', '{"sql":"\\u0044ROP TABLE t",,}'],
    ['a comment opened in another member', '{"a":"/*","b":"--","sql":"DROP/**/TABLE t"}'],
    ['a stray quote before it', 'x"y {"a":"--","sql":"DROP/**/TABLE t"}'],
    ['comment marks in a literal before it', "SELECT '--', '/*'; DROP/**/TABLE t"],
  ])('catches DROP TABLE written with %s [T9]', (_how, text) => {
    expect(dropTable.apply(diffOf(text)).approved).toBe(false);
  });

  test('tries an anchored pattern on each JSON string separately [T9]', () => {
    const rule = patternRule({ name: 'starts', forbidden: ['^DELETE'] });
    expect(rule.apply(diffOf('{"a":"SELECT 1","sql":"\\u0044ELETE FROM t"}')).approved).toBe(false);
    expect(rule.apply(diffOf('{"a":"no DELETE here"}')).approved).toBe(true);
  });

  test('points to the staged bytes, through escapes and removed comments', () => {
    const places = (text: string) => dropTable.apply(diffOf(text)).places;
    expect(places('SELECT 1;\n  DROP TABLE t')).toEqual([
      { kind: 'span', span: { startLine: 2, startColumn: 3, endLine: 2, endColumn: 13 } },
    ]);
    expect(places('x DROP/**/TABLE t')).toEqual([
      { kind: 'span', span: { startLine: 1, startColumn: 3, endLine: 1, endColumn: 16 } },
    ]);
    expect(places('{"sql":"\\u0044ROP TABLE t"}')).toEqual([
      { kind: 'span', span: { startLine: 1, startColumn: 9, endLine: 1, endColumn: 24 } },
    ]);
  });

  test('does not quote the match, because it may be a secret', () => {
    const rule = patternRule({ name: 'keys', forbidden: ['hunter[0-9]'] });
    expect(JSON.stringify(rule.apply(diffOf('password hunter2')))).not.toContain('hunter');
  });

  test('runs in linear time on input that is slow for a backtracking engine', () => {
    const rule = patternRule({ name: 'redos', forbidden: ['^(a+)+!$'] });
    const started = process.cpuUsage();
    expect(rule.apply(diffOf('a'.repeat(100_000))).approved).toBe(true);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(20_000);
  });

  test.each(['(', '(?=x)', 'a**', ''])('rejects the pattern %j at construction', (pattern) => {
    expect(() => patternRule({ name: 'bad', forbidden: [pattern] })).toThrow(/pattern/);
  });

  test.each([
    ['a backspace, as YAML and CEL read "\\b" in double quotes', '(?i)\bGRANT\b'],
    ['a new line at its end, as a block of YAML has', 'GRANT\n'],
  ])('rejects a pattern with %s, because it would match nothing', (_what, pattern) => {
    expect(() => patternRule({ name: 'p', forbidden: [pattern] })).toThrow('Use single quotes');
  });

  test.each([String.raw`\bGRANT\b`, String.raw`GRANT\n`, 'GRANT\tALL'])('accepts %j', (pattern) => {
    expect(() => patternRule({ name: 'p', forbidden: [pattern] })).not.toThrow();
  });

  test('rejects a pattern that matches the empty text, because it would block every diff', () => {
    expect(() => patternRule({ name: 'bad', forbidden: ['x*'] })).toThrow(/every diff/);
  });

  test('rejects a RegExp object, because patterns must be strings that can be hashed [T10]', () => {
    expect(() => patternRule({ name: 'bad', forbidden: [/DROP/i as unknown as string] })).toThrow(/as text/);
  });

  test('rejects patterns that are not in a list, and names the rule', () => {
    for (const forbidden of [undefined, 'drop', new Set(['drop'])])
      expect(() => patternRule({ name: 'p', forbidden } as never)).toThrow(
        /^PatternRule "p", forbidden: expected a list of patterns, got/,
      );
  });

  test('names the installed version of the engine', () => {
    const installed = JSON.parse(readFileSync(join(__dirname, '../../../node_modules/re2js/package.json'), 'utf8')) as {
      version: string;
    };
    expect(PATTERN_ENGINE.version).toBe(installed.version);
  });
});

describe('TableWhitelistRule', () => {
  const rule = tableWhitelistRule({ name: 'tables', allowed: ['orders', 'public.items'] });

  test('approves a table in the list and blocks any other, with exact comparison [F32]', () => {
    expect(rule.apply(diffOf('', { table_name: 'orders' })).approved).toBe(true);
    for (const table of ['users', 'Orders', 'orders ', 'items', '']) {
      expect(rule.apply(diffOf('', { table_name: table }))).toMatchObject({ approved: false, severity: 'block' });
    }
  });

  test('warns if table_name is missing [F33, T6]', () => {
    expect(rule.apply(diffOf('UPDATE orders SET a = 1'))).toMatchObject({ approved: false, severity: 'warn' });
    expect(
      tableWhitelistRule({ name: 'inherited', allowed: ['orders'] }).apply(
        diffOf('', Object.create({ table_name: 'orders' }) as never),
      ),
    ).toMatchObject({ severity: 'warn' });
  });

  test('blocks every table if the list is empty [T7]', () => {
    const none = tableWhitelistRule({ name: 'none', allowed: [] });
    expect(none.apply(diffOf('', { table_name: 'orders' }))).toMatchObject({ approved: false, severity: 'block' });
    expect(none.apply(diffOf('', { table_name: '' }))).toMatchObject({ approved: false, severity: 'block' });
  });

  test.each([[1], [null], [['orders']], [{ orders: true }], [true]])('blocks if table_name is %j', (table) => {
    expect(rule.apply(diffOf('', { table_name: table as never }))).toMatchObject({
      approved: false,
      severity: 'block',
    });
  });

  test('reads only the claim, not the bytes [F11]', () => {
    expect(rule.apply(diffOf('{"table_name":"users"}', { table_name: 'orders' })).approved).toBe(true);
  });
});

describe('DiffSizeRule', () => {
  const rule = diffSizeRule({ name: 'size', maxRows: 100 });

  test('approves up to the allowed number of rows and blocks one more [F34, T5]', () => {
    expect(rule.apply(diffOf('', { affected_rows: 100 })).approved).toBe(true);
    expect(rule.apply(diffOf('', { affected_rows: 0 })).approved).toBe(true);
    expect(rule.apply(diffOf('', { affected_rows: 101 }))).toMatchObject({ approved: false, severity: 'block' });
  });

  test('warns if the claim is missing [F35]', () => {
    expect(rule.apply(diffOf('x'))).toMatchObject({ approved: false, severity: 'warn' });
  });

  test.each([['12'], [Number.NaN], [Number.POSITIVE_INFINITY], [-1], [null], [[1]], [true]])(
    'blocks if the claim is %p [F35, T5]',
    (rows) => {
      expect(rule.apply(diffOf('', { affected_rows: rows as never }))).toMatchObject({
        approved: false,
        severity: 'block',
      });
    },
  );

  test('reads only the claim, not the bytes [F11, F34]', () => {
    expect(rule.apply(diffOf('{"affected_rows":999999}', { affected_rows: 1 })).approved).toBe(true);
  });

  test.each([[-1], [1.5], [Number.NaN], ['5']])('rejects a limit of %p at construction', (maxRows) => {
    expect(() => diffSizeRule({ name: 'bad', maxRows: maxRows as never })).toThrow(/maxRows/);
  });
});
