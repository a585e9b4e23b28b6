import type { StagingRecord } from '../../../../policy/contracts/staging-record';
import { sqlDryRunEffects } from '../../../../source-tools/sql/staging';
import { stageContext } from './sql-context';
import { recordOf } from '../../../support/staged-change';
import { onEachSharedServer } from './target-server';

/** A function that is named like one of PostgreSQL 18. */
const OWN_UUID = `LANGUAGE sql AS $$ SELECT '00000000-0000-4000-8000-000000000000'::uuid $$`;

onEachSharedServer((use, major) => {
  const pg = use(`
    CREATE TABLE plain (id uuid PRIMARY KEY, note text);
    CREATE TABLE generated (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), note text,
      role text GENERATED ALWAYS AS (CASE WHEN id::text < '8' THEN 'admin:' ELSE 'user:' END || left(id::text, 6)) STORED);
    CREATE TABLE short (id int PRIMARY KEY, code bytea);
    CREATE FUNCTION shortened(uuid) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$ SELECT decode(left($1::text, 8), 'hex') $$;
    CREATE CAST (uuid AS bytea) WITH FUNCTION shortened(uuid) AS ASSIGNMENT;
    CREATE SCHEMA ours;
    CREATE FUNCTION ours.gen_random_uuid() RETURNS uuid ${OWN_UUID};
    CREATE FUNCTION ours.uuidv7(at int DEFAULT 0) RETURNS uuid ${OWN_UUID};
    GRANT USAGE ON SCHEMA ours TO countersign_stage;
  `);
  const dryRun = async (sql: string, settings = {}): Promise<StagingRecord> =>
    recordOf(await sqlDryRunEffects.stage(stageContext(pg.stageUrl, sql, { settings })));
  const differs = (column: string): string =>
    `public.${column}: the value differs between two dry runs, so it is not compared at commit`;

  describe('a random UUID that a statement gives a new row', () => {
    it('asks if a generated column follows from it, unlike one that follows from the default of a column', async () => {
      const given = await dryRun('INSERT INTO generated (id) VALUES (gen_random_uuid())');
      expect(given.uncaptured).toEqual([differs('generated.role')]);
      expect(await dryRun(`INSERT INTO generated (note) VALUES ('a')`)).toMatchObject({ fullyCaptured: true });
    });

    it('asks if a cast of the target makes another value of it', async () => {
      expect((await dryRun('INSERT INTO short VALUES (1, gen_random_uuid())')).uncaptured).toEqual([
        differs('short.code'),
      ]);
    });

    it('passes if another schema, after that of PostgreSQL, has a function of this name, as with the extension pgcrypto', async () => {
      const after = { searchPath: ['public', 'ours'] };
      expect(await dryRun('INSERT INTO plain (id) VALUES (gen_random_uuid())', after)).toMatchObject({
        fullyCaptured: true,
      });
      const before = { searchPath: ['ours', 'public', 'pg_catalog'] };
      const hidden = await dryRun('INSERT INTO plain (id) VALUES (gen_random_uuid())', before);
      expect(hidden).toMatchObject({
        reason: 'not_rehearsed',
        uncaptured: [expect.stringContaining('hides the built-in')],
      });
    });

    it('asks if the function is one of the target, because this PostgreSQL has none of the name', async () => {
      const record = await dryRun('INSERT INTO plain (id) VALUES (uuidv7())', { searchPath: ['public', 'ours'] });
      expect(record).toMatchObject(
        major >= 18
          ? { fullyCaptured: true, notCompared: [{ column: 'id' }] }
          : { reason: 'not_rehearsed', uncaptured: ['uuidv7() is not a function of this PostgreSQL, but one of ours'] },
      );
    });
  });
});
