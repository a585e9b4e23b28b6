import { loadParser } from '../../../../source-tools/sql/facts/parser';
import type { Relation } from '../../../../source-tools/sql/staging/captured-rows';
import { BoundedRows, joinRows, oldRowsQuery } from '../../../../source-tools/sql/staging/old-rows';
import { rowSql } from '../../../../source-tools/sql/staging/row-text';
import { countRows, type Counts } from '../../../../source-tools/sql/staging/statistics';

beforeAll(() => loadParser());

const READS = (alias: string) => `SELECT "${alias}".tableoid, "${alias}".ctid, ${rowSql(`"${alias}"`)}`;

describe('the query for the rows before an UPDATE', () => {
  it.each([
    ['UPDATE a SET x = 1', 'a', `${READS('a')} FROM a`],
    [
      'UPDATE ONLY s.a AS b SET x = y FROM c WHERE b.id = c.id RETURNING b.id',
      'b',
      `${READS('b')} FROM ONLY s.a AS b , c WHERE b.id = c.id`,
    ],
    [
      'WITH w AS (SELECT 1 AS id) UPDATE a SET x = 1 FROM w WHERE a.id = w.id -- end',
      'a',
      `WITH w AS (SELECT 1 AS id) ${READS('a')} FROM a , w WHERE a.id = w.id -- end`,
    ],
    ['UPDATE a SET x = $1 FROM f($1) AS s WHERE s.id = $2', 'a', `${READS('a')} FROM a , f($1) AS s WHERE s.id = $2`],
  ])('has its own FROM and WHERE, and locks only the target: %s', (sql, alias, query) => {
    const found = oldRowsQuery(sql, alias);
    expect(found?.replaceAll(/\s+/g, ' ').trim()).toBe(`${query} FOR NO KEY UPDATE OF "${alias}"`);
    expect(found).toMatch(/\nFOR NO KEY UPDATE OF/);
  });

  it.each([
    'UPDATE a SET x = 1 WHERE CURRENT OF c',
    'DELETE FROM a',
    'UPDATE a SET x = 1; UPDATE a SET x = 2',
    'UPDATE a SET x = 1 WHERE a.xmax = 0',
    'WITH a AS (SELECT 1 AS id) UPDATE a SET x = 1',
    'UPDATE',
  ])('is not made for: %s', (sql) => {
    expect(oldRowsQuery(sql, 'a')).toBeNull();
  });
});

describe('rows before and after', () => {
  const relations = new Map<string, Relation>([
    ['1', { label: 'public.t', schema: 'public', key: ['id'] }],
    ['2', { label: 'public.u', schema: 'public', key: ['id'] }],
    ['3', { label: 'public.keyless', schema: 'public', key: null }],
  ]);
  const old = (table: string, ...rows: string[]) => rows.map((row, i) => ({ table, ctid: `(0,${i})`, row }));
  const now = (table: string, ...rows: string[]) => rows.map((row) => ({ table, row }));
  const counted = (rows: Parameters<typeof countRows>[1]) => {
    const counts = new Map<string, Counts>();
    countRows(counts, rows);
    return Object.fromEntries(counts);
  };

  it('are joined by key, regardless of their order', () => {
    const rows = joinRows(
      0,
      old('1', '{"id": "1"}', '{"id": "2"}'),
      now('1', '{"id": "2", "x": "1"}', '{"id": "1", "x": "1"}'),
      relations,
    );
    expect(rows.map(({ before, after }) => [before, after])).toEqual([
      ['{"id": "1"}', '{"id": "1", "x": "1"}'],
      ['{"id": "2"}', '{"id": "2", "x": "1"}'],
    ]);
  });

  it('are joined without a key only if there is one of each', () => {
    expect(joinRows(0, old('3', '{"x": "1"}'), now('3', '{"x": "2"}'), relations)).toMatchObject([
      { before: '{"x": "1"}', after: '{"x": "2"}' },
    ]);
    const rows = joinRows(0, old('3', '{"x": "1"}', '{"x": "1"}'), now('3', '{"x": "2"}', '{"x": "2"}'), relations);
    expect(rows.map(({ before, after }) => [before, after])).toEqual([
      ['{"x": "1"}', null],
      ['{"x": "1"}', null],
      [null, '{"x": "2"}'],
      [null, '{"x": "2"}'],
    ]);
    expect(counted(rows)).toEqual({ '3': { inserted: 0, updated: 2, deleted: 0 } });
  });

  it('are not joined if one key differs', () => {
    const rows = joinRows(0, old('1', '{"id": "1"}', '{"id": "2"}'), now('1', '{"id": "2"}', '{"id": "3"}'), relations);
    expect(rows).toHaveLength(4);
    expect(counted(rows)).toEqual({ '1': { inserted: 0, updated: 2, deleted: 0 } });
  });

  it('are counted as one delete and one insert if they move to another partition', () => {
    const rows = joinRows(0, old('1', '{"id": "1"}', '{"id": "2"}'), now('2', '{"id": "1"}', '{"id": "2"}'), relations);
    expect(counted(rows)).toEqual({
      '1': { inserted: 0, updated: 0, deleted: 2 },
      '2': { inserted: 2, updated: 0, deleted: 0 },
    });
  });

  it('are kept up to a number', () => {
    const rows = new BoundedRows(2);
    for (const row of ['a', 'b', 'c']) rows.add({ row });
    expect(rows).toMatchObject({ rows: [{ row: 'a' }, { row: 'b' }], overflow: true });
  });
});
