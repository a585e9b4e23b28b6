import { fires } from './support/run-rule';

const statementByStatement = { config: { assumeInTransaction: false } };

describe('a script that runs statement by statement', () => {
  it.each([
    ['CREATE INDEX CONCURRENTLY i ON t (a)', true],
    ['CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON t (a)', false],
    ['DROP INDEX CONCURRENTLY i', true],
    ['CREATE INDEX i ON t (a)', false],
    ['ALTER TABLE t ADD COLUMN a int', false],
    ['SELECT 1; ALTER TABLE t RENAME COLUMN a TO b', true],
    ['SELECT 1; ALTER TABLE t OWNER TO bob', true],
    ['SELECT 1; ALTER TABLE t VALIDATE CONSTRAINT c', true],
    [
      'ALTER TABLE t DROP CONSTRAINT IF EXISTS c; ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0) NOT VALID; ALTER TABLE t VALIDATE CONSTRAINT c',
      false,
    ],
    ['SELECT 1; ALTER VIEW v RENAME TO w', false],
  ])('must be repeatable, also a single concurrent statement: %s → %s', async (sql, expected) => {
    expect(await fires('sql_robust_statements', sql, statementByStatement)).toBe(expected);
  });

  it('is reported for a concurrent index build, also inside a transaction', async () => {
    expect(await fires('sql_robust_statements', 'BEGIN; CREATE INDEX CONCURRENTLY i ON t (a); COMMIT')).toBe(true);
    expect(await fires('sql_robust_statements', 'BEGIN; CREATE INDEX i ON t (a); COMMIT')).toBe(false);
  });
});

describe('types', () => {
  it('char is reported, and not the internal type "char", which pads nothing', async () => {
    expect(await fires('sql_no_char', 'CREATE TABLE t (a char(3), b character)')).toBe(true);
    expect(await fires('sql_no_char', 'CREATE TABLE t (a "char")')).toBe(false);
  });

  it('varchar is reported only with a length', async () => {
    expect(await fires('sql_prefer_text', 'CREATE TABLE t (a varchar(10))')).toBe(true);
    expect(await fires('sql_prefer_text', 'ALTER TABLE t ALTER COLUMN a TYPE character varying(10)')).toBe(true);
    expect(await fires('sql_prefer_text', 'CREATE TABLE t (a varchar); ALTER TABLE t ALTER a TYPE varchar')).toBe(
      false,
    );
  });

  it('a domain is reported for NOT NULL and CHECK, but not for DEFAULT', async () => {
    expect(await fires('sql_domain_constraint', 'CREATE DOMAIN d AS text NOT NULL')).toBe(true);
    expect(await fires('sql_domain_constraint', "CREATE DOMAIN d AS text DEFAULT ''")).toBe(false);
  });
});
