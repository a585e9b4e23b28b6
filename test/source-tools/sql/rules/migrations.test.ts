import { fires } from './support/run-rule';

const statementByStatement = { config: { assumeInTransaction: false } };

describe('index builds', () => {
  it.each([
    ['CREATE INDEX i ON t (a)', true],
    ['CREATE UNIQUE INDEX CONCURRENTLY i ON t (a)', false],
    ['DROP INDEX i', true],
    ['DROP INDEX CONCURRENTLY i', false],
    ['REINDEX TABLE t', true],
    ['REINDEX (CONCURRENTLY) TABLE t', false],
    ['REINDEX (CONCURRENTLY false) TABLE t', true],
    ['REINDEX (CONCURRENTLY, CONCURRENTLY false) TABLE t', true],
    ['REINDEX (CONCURRENTLY false, CONCURRENTLY) TABLE t', false],
    ['REINDEX SYSTEM d', false],
    ['ALTER TABLE t DETACH PARTITION p', true],
    ['ALTER TABLE t DETACH PARTITION p CONCURRENTLY', false],
    ['DROP TRIGGER i ON t', false],
    ['CREATE TABLE t (a int); CREATE INDEX i ON t (a)', false],
    ['CREATE TABLE t (a int); CREATE INDEX i ON u (a)', true],
    ['CREATE TABLE IF NOT EXISTS t (a int); CREATE INDEX i ON t (a)', true],
    ['CREATE TABLE t (a int); COMMIT; CREATE INDEX i ON t (a)', true],
    ['DO $$ BEGIN CREATE INDEX i ON t (a); END $$', true],
  ])('%s', async (sql, expected) => {
    expect(await fires('sql_not_concurrent', sql)).toBe(expected);
  });

  it('on a table created just before are reported if the text runs statement by statement', async () => {
    expect(
      await fires('sql_not_concurrent', 'CREATE TABLE t (a int); CREATE INDEX i ON t (a)', statementByStatement),
    ).toBe(true);
    expect(
      await fires(
        'sql_not_concurrent',
        'BEGIN; CREATE TABLE t (a int); CREATE INDEX i ON t (a); COMMIT',
        statementByStatement,
      ),
    ).toBe(false);
  });

  it('with CONCURRENTLY are reported in a transaction, unless they are the only statement', async () => {
    const build = 'CREATE INDEX CONCURRENTLY i ON t (a)';
    expect(await fires('sql_concurrently_in_transaction', build)).toBe(false);
    expect(await fires('sql_concurrently_in_transaction', `${build}; SELECT 1`)).toBe(true);
    expect(await fires('sql_concurrently_in_transaction', build, statementByStatement)).toBe(false);
    expect(await fires('sql_concurrently_in_transaction', `BEGIN; ${build}; COMMIT`, statementByStatement)).toBe(true);
    expect(await fires('sql_concurrently_in_transaction', `COMMIT; ${build}; BEGIN`)).toBe(false);
  });
});

describe('constraints and columns', () => {
  it.each([
    ['sql_constraint_not_valid', 'ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)', true],
    ['sql_constraint_not_valid', 'ALTER TABLE t ADD CHECK (a > 0) NOT VALID', false],
    ['sql_constraint_not_valid', 'ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES u', true],
    ['sql_constraint_not_valid', 'ALTER TABLE t ADD COLUMN a int REFERENCES u', true],
    ['sql_constraint_not_valid', 'ALTER TABLE t ADD COLUMN a int CHECK (a > 0)', true],
    ['sql_constraint_not_valid', 'CREATE TABLE t (id int); ALTER TABLE t ADD COLUMN a int CHECK (a > 0)', false],
    ['sql_constraint_not_valid', 'ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES u NOT ENFORCED', false],
    ['sql_constraint_not_valid', 'ALTER TABLE t ALTER CONSTRAINT c ENFORCED', true],
    ['sql_constraint_not_valid', 'ALTER TABLE t ALTER CONSTRAINT c NOT ENFORCED', false],
    [
      'sql_constraint_not_valid',
      'ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0) NOT VALID; ALTER TABLE t VALIDATE CONSTRAINT c',
      true,
    ],
    ['sql_constraint_not_valid', 'CREATE TABLE t (a int); ALTER TABLE t ADD CHECK (a > 0)', false],
    ['sql_constraint_not_valid', 'CREATE TEMP TABLE t (a int); ALTER TABLE public.t ADD CHECK (a > 0)', true],
    ['sql_constraint_not_valid', 'CREATE TABLE s.t (a int); ALTER TABLE t ADD CHECK (a > 0)', true],
    ['sql_constraint_not_valid', 'CREATE TABLE s.t (a int); ALTER TABLE s.t ADD CHECK (a > 0)', false],
    ['sql_constraint_not_valid', 'ALTER DOMAIN d ADD CHECK (value > 0)', true],
    ['sql_constraint_not_valid', 'ALTER DOMAIN d ADD CONSTRAINT c CHECK (value > 0) NOT VALID', false],
    ['sql_constraint_not_valid', 'CREATE DOMAIN d AS int CHECK (value > 0)', false],
    ['sql_unique_constraint', 'ALTER TABLE t ADD PRIMARY KEY (a)', true],
    ['sql_unique_constraint', 'ALTER TABLE t ADD COLUMN a bigserial PRIMARY KEY', true],
    ['sql_unique_constraint', 'ALTER TABLE t ADD EXCLUDE USING gist (a WITH &&)', true],
    ['sql_unique_constraint', 'ALTER TABLE t ADD CONSTRAINT c PRIMARY KEY USING INDEX i', false],
    ['sql_unique_constraint', 'CREATE TABLE t (a int UNIQUE)', false],
    ['sql_add_column_not_null', 'ALTER TABLE t ADD a int NOT NULL', true],
    ['sql_add_column_not_null', 'ALTER TABLE t ADD a int NOT NULL DEFAULT 1', false],
    ['sql_add_column_not_null', 'ALTER TABLE t ADD a int NOT NULL DEFAULT NULL', true],
    ['sql_add_column_not_null', 'ALTER TABLE t ADD a int DEFAULT NULL::int NOT NULL', true],
    ['sql_add_column_not_null', 'ALTER TABLE t ADD a int NOT NULL GENERATED ALWAYS AS IDENTITY', false],
    ['sql_volatile_default', 'ALTER TABLE t ADD a uuid DEFAULT gen_random_uuid()', true],
    ['sql_volatile_default', 'ALTER TABLE t ADD a float DEFAULT 1 + random()', true],
    ['sql_volatile_default', 'ALTER TABLE t ADD a int DEFAULT our_own()', true],
    ['sql_volatile_default', 'ALTER TABLE t ADD a int DEFAULT ours.now()', true],
    ['sql_volatile_default', 'ALTER TABLE t ADD a int GENERATED ALWAYS AS (b + 1) STORED', true],
    ['sql_volatile_default', 'ALTER TABLE t ADD a timestamptz DEFAULT now()', false],
    ['sql_volatile_default', 'ALTER TABLE t ALTER a SET DEFAULT random()', false],
    ['sql_set_not_null', 'ALTER TABLE t ALTER a SET NOT NULL', true],
    ['sql_set_not_null', 'ALTER TABLE t ADD CONSTRAINT c NOT NULL a', true],
    ['sql_set_not_null', 'ALTER TABLE t ADD CONSTRAINT c NOT NULL a NOT VALID', false],
    ['sql_set_not_null', 'CREATE TABLE t (a int); ALTER TABLE t ADD CONSTRAINT c NOT NULL a', false],
    [
      'sql_set_not_null',
      'ALTER TABLE t ADD CONSTRAINT c NOT NULL a NOT VALID; ALTER TABLE t VALIDATE CONSTRAINT c; ALTER TABLE t ALTER a SET NOT NULL',
      false,
    ],
    [
      'sql_set_not_null',
      'ALTER TABLE t ADD CONSTRAINT c CHECK (a IS NOT NULL) NOT VALID; ALTER TABLE t VALIDATE CONSTRAINT c; ALTER TABLE t ALTER a SET NOT NULL',
      false,
    ],
    [
      'sql_set_not_null',
      'ALTER TABLE t ADD CONSTRAINT c CHECK (b IS NOT NULL) NOT VALID; ALTER TABLE t VALIDATE CONSTRAINT c; ALTER TABLE t ALTER a SET NOT NULL',
      true,
    ],
    ['sql_set_not_null', 'ALTER TABLE t VALIDATE CONSTRAINT t_a_not_null; ALTER TABLE t ALTER a SET NOT NULL', false],
    ['sql_set_not_null', 'ALTER TABLE u VALIDATE CONSTRAINT t_a_not_null; ALTER TABLE t ALTER a SET NOT NULL', true],
    ['sql_on_delete_cascade', 'ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES u ON DELETE CASCADE', true],
    ['sql_on_delete_cascade', 'ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES u ON UPDATE CASCADE', false],
  ])('%s: %s', async (name, sql, expected) => {
    expect(await fires(name, sql)).toBe(expected);
  });
});

describe('locks, limits and other rules', () => {
  it.each([
    ['sql_timeouts_required', 'ALTER TABLE t ADD a int', true],
    ['sql_timeouts_required', "SET lock_timeout = '1s'; SET statement_timeout = '1s'; ALTER TABLE t ADD a int", false],
    ['sql_timeouts_required', "SET lock_timeout = 0; SET statement_timeout = '1s'; ALTER TABLE t ADD a int", true],
    ['sql_timeouts_required', "RESET lock_timeout; SET statement_timeout = '1s'; ALTER TABLE t ADD a int", true],
    ['sql_timeouts_required', "SET lock_timeout = '0s'; SET statement_timeout = '0ms'; ALTER TABLE t ADD a int", true],
    [
      'sql_timeouts_required',
      "SET lock_timeout = '1s'; SET statement_timeout = '1s'; RESET lock_timeout; ALTER TABLE t ADD a int",
      true,
    ],
    [
      'sql_timeouts_required',
      "SET lock_timeout = '1s'; SET statement_timeout = '1s'; RESET ALL; ALTER TABLE t ADD a int",
      true,
    ],
    [
      'sql_timeouts_required',
      "SET lock_timeout = '1s'; SET statement_timeout = '1s'; ALTER ROLE app RESET lock_timeout; ALTER TABLE t ADD a int",
      false,
    ],
    [
      'sql_timeouts_required',
      "SELECT set_config('lock_timeout', '1s', true), set_config('statement_timeout', '1s', true); ALTER TABLE t ADD a int",
      false,
    ],
    ['sql_timeouts_required', 'UPDATE t SET a = 1 WHERE b', false],
    ['sql_vacuum_full', 'VACUUM (VERBOSE, FULL) t', true],
    ['sql_vacuum_full', 'CLUSTER t', true],
    ['sql_vacuum_full', 'VACUUM ANALYZE t', false],
    ['sql_lock_table', 'LOCK t', true],
    ['sql_uncommitted_transaction', 'BEGIN; SELECT 1', true],
    ['sql_uncommitted_transaction', 'BEGIN; SELECT 1; COMMIT AND CHAIN', true],
    ['sql_uncommitted_transaction', 'BEGIN; BEGIN; COMMIT', false],
    ['sql_uncommitted_transaction', 'BEGIN; SAVEPOINT a; RELEASE a; END', false],
    ['sql_identifier_too_long', `SELECT "${'é'.repeat(32)}"`, true],
    ['sql_identifier_too_long', `SELECT "${'é'.repeat(31)}a"`, false],
    ['sql_identifier_too_long', `SELECT '${'x'.repeat(100)}'`, false],
    ['sql_identifier_too_long', `SELECT U&"${'\\0061'.repeat(40)}"`, false],
    ['sql_insert_without_columns', 'INSERT INTO t SELECT 1', true],
    ['sql_insert_without_columns', 'INSERT INTO t DEFAULT VALUES', false],
    ['sql_insert_without_columns', 'MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT VALUES (u.a)', true],
    [
      'sql_insert_without_columns',
      'MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT (a) VALUES (1)',
      false,
    ],
    [
      'sql_insert_without_columns',
      'MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT DEFAULT VALUES',
      false,
    ],
    ['sql_rollback_available', 'DROP INDEX i', false],
    ['sql_rollback_available', 'TRUNCATE t', true],
  ])('%s: %s', async (name, sql, expected) => {
    expect(await fires(name, sql)).toBe(expected);
  });
});
