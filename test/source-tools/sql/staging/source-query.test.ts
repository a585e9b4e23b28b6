import { loadParser } from '../../../../source-tools/sql/facts/parser';
import { onlyStatement } from '../../../../source-tools/sql/facts/tree';
import { sourceQuery } from '../../../../source-tools/sql/staging/source-query';

beforeAll(() => loadParser());

function queryOf(sql: string): string | number | null {
  const statement = onlyStatement(sql);
  if (statement === null) throw new Error(`invalid: ${sql}`);
  const query = sourceQuery(sql, statement);
  return query === null || typeof query === 'number'
    ? query
    : `${query.with} SELECT 1 ${query.from}`.replaceAll(/\s+/g, ' ').trim();
}

describe('the query that counts the rows of a statement', () => {
  it.each([
    ['UPDATE a SET x = 1', 'SELECT 1 FROM a'],
    ['UPDATE a AS b SET x = 1 WHERE y = 2 RETURNING b.x', 'SELECT 1 FROM a AS b WHERE y = 2'],
    [
      'UPDATE a SET x = y IS DISTINCT FROM z FROM b JOIN c USING (id) WHERE a.id = b.id',
      'SELECT 1 FROM a , b JOIN c USING (id) WHERE a.id = b.id',
    ],
    ['DELETE FROM ONLY a', 'SELECT 1 FROM ONLY a'],
    [
      'WITH w AS (SELECT 1) DELETE FROM a USING b, w WHERE (SELECT true WHERE true)',
      'WITH w AS (SELECT 1) SELECT 1 FROM a , b, w WHERE (SELECT true WHERE true)',
    ],
    ['INSERT INTO a SELECT x FROM b', 'SELECT 1 FROM (SELECT x FROM b ) AS source'],
    [
      'INSERT INTO a (x) SELECT x FROM b JOIN c ON true WHERE x IN (1, 2) ON CONFLICT DO NOTHING',
      'SELECT 1 FROM (SELECT x FROM b JOIN c ON true WHERE x IN (1, 2) ) AS source',
    ],
    ['INSERT INTO a TABLE b RETURNING x', 'SELECT 1 FROM (TABLE b ) AS source'],
    ['INSERT INTO a VALUES (1), (2)', 2],
    ['INSERT INTO a DEFAULT VALUES', 1],
    [
      'MERGE INTO a AS t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE',
      'SELECT 1 FROM a AS t RIGHT JOIN (SELECT 1 AS id) s ON t.id = s.id',
    ],
    ['INSERT INTO a (x) (SELECT x FROM b) RETURNING x', 'SELECT 1 FROM ((SELECT x FROM b) ) AS source'],
    ['UPDATE ä SET x = $$ WHERE $$ /* WHERE */ WHERE "where" = 1 -- end', 'SELECT 1 FROM ä WHERE "where" = 1 -- end'],
  ])('reads the same rows: %s', (sql, query) => {
    expect(queryOf(sql)).toBe(query);
  });

  it('is unknown if the number of rows also depends on rows that no source row matches', () => {
    expect(queryOf('MERGE INTO a USING b ON a.id = b.id WHEN NOT MATCHED BY SOURCE THEN DELETE')).toBeNull();
  });

  it('is found, or not, in a time that does not grow with the number of words times the length of the text', () => {
    const condition = Array.from({ length: 6_000 }, (_, i) => `(id = ${i}) /*${'x'.repeat(100)}*/`).join(' OR ');
    const joins = Array.from({ length: 60 }, (_, i) => `JOIN b${i} ON a.id IN (${'1,'.repeat(300)}1)`).join(' ');
    const began = process.cpuUsage();
    expect(queryOf(`UPDATE a SET x = 1 WHERE ${condition}`)).not.toBeNull();
    expect(queryOf(`MERGE INTO a USING a ${joins} ON true WHEN NOT MATCHED BY SOURCE THEN DELETE`)).toBeNull();
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(2_000);
  });

  it.each([
    'WITH a AS (SELECT 1) UPDATE a SET x = 1',
    'WITH b AS (SELECT 1), "A" AS (SELECT 2), a AS (SELECT 3) DELETE FROM A',
    'WITH a AS (SELECT 1) MERGE INTO a USING b ON true WHEN MATCHED THEN DELETE',
  ])('is unknown if a WITH query has the name of the target, which a SELECT would read instead: %s', (sql) => {
    expect(queryOf(sql)).toBeNull();
  });

  it('reads the target if only its schema distinguishes it from a WITH query', () => {
    expect(queryOf('WITH a AS (SELECT 1) DELETE FROM s.a')).toBe('WITH a AS (SELECT 1) SELECT 1 FROM s.a');
  });
});
