import fc from 'fast-check';
import { casClaims } from '../../../../source-tools/sql/facts/claims';
import { readCasDocument } from '../../../../source-tools/sql/facts/cas-document';
import { inexactNumberAt } from '../../../../policy/text/exact-number';

const read = (text: string) => readCasDocument(new TextEncoder().encode(text));
const row = (members: string) =>
  `{"rows":[{"table":"public.t","key":{"id":1},"expect":{"v":1},"set":{"a":1}${members}}]}`;

describe('a SQLCAS document', () => {
  it('gives facts by operation, table and column, with JSON pointers', () => {
    const text = JSON.stringify({
      rows: [
        { table: 'public.orders', key: { id: 17 }, expect: { version: 3 }, set: { status: 'paid', a: 1 } },
        { op: 'insert', table: 'public.a', key: { id: 1 }, set: { b: 1 } },
        { op: 'delete', table: 'public.orders', key: { id: 18 }, expect: { rowSha: 'a'.repeat(64) } },
      ],
    });
    expect(read(text)).toMatchObject({
      ok: true,
      facts: {
        kind: 'sql-cas',
        tables: ['public.a', 'public.orders'],
        written: [
          { table: 'public.a', columns: ['b', 'id'] },
          { table: 'public.orders', columns: ['a', 'status'] },
        ],
        operations: [
          {
            op: 'update',
            table: 'public.orders',
            keyColumns: ['id'],
            expectColumns: ['version'],
            expectsRow: false,
            setColumns: ['a', 'status'],
            pointer: '/rows/0',
          },
          {
            op: 'insert',
            table: 'public.a',
            keyColumns: ['id'],
            expectColumns: [],
            expectsRow: false,
            setColumns: ['b'],
            pointer: '/rows/1',
          },
          {
            op: 'delete',
            table: 'public.orders',
            keyColumns: ['id'],
            expectColumns: [],
            expectsRow: true,
            setColumns: [],
            pointer: '/rows/2',
          },
        ],
      },
    });
  });

  it('is compared with claims by the exact names of its tables', () => {
    const document = read(row('').replace('public.t', 'Sales.Orders'));
    if (!document.ok) throw new Error(document.message);
    const diff = { sourceTool: 'SQLCAS', raw: new Uint8Array(), diffSha: 'a'.repeat(64), metadata: {} };
    expect(casClaims(document.facts, diff).tables).toMatchObject([{ schema: 'Sales', name: 'Orders' }]);
  });

  it.each([
    ['no bytes', '', 'empty'],
    ['invalid JSON', '{"rows":[', 'syntax_error'],
    ['a NUL', '{"rows":[]}\0', 'nul_byte'],
    ['two values', `${row('')} {}`, 'syntax_error'],
    ['a duplicate key', row(',"set":{"a":2}'), 'duplicate_key'],
    ['a duplicate key with an escape', row(',"s\\u0065t":{"a":2}'), 'duplicate_key'],
    [
      'an integer beyond 2^53',
      '{"rows":[{"table":"a.b","key":{"id":9007199254740993},"expect":{"v":1},"set":{"a":1}}]}',
      'inexact_number',
    ],
    ['a decimal that a double rounds', row('').replace('"a":1', '"a":0.12345678901234567891'), 'inexact_number'],
    ['a member named __proto__', row('').replace('"a":1', '"__proto__":1'), 'reserved_key'],
    ['an unknown member', row(',"where":"1=1"'), 'invalid_document'],
    ['no rows', '{"rows":[]}', 'invalid_document'],
    ['an update without expect', '{"rows":[{"table":"a.b","key":{"id":1},"set":{"a":1}}]}', 'invalid_document'],
    ['an empty expect', '{"rows":[{"table":"a.b","key":{"id":1},"expect":{},"set":{"a":1}}]}', 'invalid_document'],
    ['an empty key', '{"rows":[{"table":"a.b","key":{},"expect":{"v":1},"set":{"a":1}}]}', 'invalid_document'],
    ['a null key', '{"rows":[{"table":"a.b","key":{"id":null},"expect":{"v":1},"set":{"a":1}}]}', 'invalid_document'],
    [
      'a table without schema',
      '{"rows":[{"table":"b","key":{"id":1},"expect":{"v":1},"set":{"a":1}}]}',
      'invalid_document',
    ],
    [
      'an invalid table name',
      '{"rows":[{"table":"a.b; DROP TABLE x","key":{"id":1},"expect":{"v":1},"set":{"a":1}}]}',
      'invalid_document',
    ],
    [
      'an invalid column name',
      '{"rows":[{"table":"a.b","key":{"id\\" = 1 OR 1=1 --":1},"expect":{"v":1},"set":{"a":1}}]}',
      'invalid_document',
    ],
    [
      'a key column in set',
      '{"rows":[{"table":"a.b","key":{"id":1},"expect":{"v":1},"set":{"id":2}}]}',
      'invalid_document',
    ],
    [
      'a short rowSha',
      '{"rows":[{"op":"delete","table":"a.b","key":{"id":1},"expect":{"rowSha":"abc"}}]}',
      'invalid_document',
    ],
    [
      'a delete that sets',
      '{"rows":[{"op":"delete","table":"a.b","key":{"id":1},"expect":{"v":1},"set":{"a":1}}]}',
      'invalid_document',
    ],
    [
      'two operations on one row',
      '{"rows":[{"table":"a.b","key":{"id":1},"expect":{"v":1},"set":{"a":1}},{"op":"delete","table":"a.b","key":{"id":1},"expect":{"v":1}}]}',
      'duplicate_row',
    ],
  ])('refuses %s', (_, text, code) => {
    expect(read(text)).toMatchObject({ ok: false, code });
  });

  it('reports the position of a number that would lose digits', () => {
    const refused = read('{"rows":\n [9007199254740993]}');
    expect(refused).toMatchObject({ ok: false, span: { startLine: 2, startColumn: 3 } });
  });

  it('never throws for any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void readCasDocument(bytes)));
    fc.assert(fc.property(fc.json(), (text) => void read(`{"rows":[${text}]}`)));
  });
});

describe('numbers in JSON text', () => {
  it('accepts every number that JavaScript writes, and refuses more digits', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => {
        const safe = !Number.isInteger(n) || Math.abs(n) <= Number.MAX_SAFE_INTEGER;
        expect(inexactNumberAt(JSON.stringify([n, 'a "1e999\\"" b'])) === null).toBe(safe);
      }),
    );
    for (const exact of ['0', '-0', '1.50', '1e2', '100', '0.1', '1E-7', '0.000', '9007199254740991'])
      expect([exact, inexactNumberAt(exact)]).toEqual([exact, null]);
    for (const lossy of ['9007199254740993', '9007199254740992', '1e400', '0.1000000000000000055511151231257827'])
      expect([lossy, inexactNumberAt(lossy)]).toEqual([lossy, 0]);
  });
});
