import { extractSqlFacts } from '../../../../source-tools/sql/facts/extract-sql-facts';
import type { SqlFacts } from '../../../../source-tools/sql/facts/sql-facts';
import { withReturning } from '../../../../source-tools/sql/staging/returning';
import { rowSql } from '../../../../source-tools/sql/staging/row-text';
import { readStatements, type Statement } from '../../../../source-tools/sql/staging/statements';

const read = async (text: string): Promise<readonly Statement[]> => {
  const result = await readStatements(new TextEncoder().encode(text));
  if (!result.ok) throw new Error(result.message);
  return result.statements;
};

describe('statements of a text', () => {
  it('are split at byte offsets, and have the same hashes as in the facts', async () => {
    const text = `-- ünïcode 🎉\nUPDATE "täble" SET x = ';é' /* ; */ ; ;\r\n  DELETE FROM b WHERE y = $$;$$ -- end`;
    const statements = await read(text);
    expect(statements.map((s) => [s.command, s.target?.name])).toEqual([
      ['UPDATE', 'täble'],
      ['DELETE', 'b'],
    ]);
    const facts = (await extractSqlFacts(new TextEncoder().encode(text))) as SqlFacts;
    expect(facts.ok).toBe(true);
    expect(statements.map((s) => s.sha)).toEqual(facts.statements.map((s) => s.sha));
  });

  it.each([
    ['COMMIT', 'refused'],
    ['ROLLBACK', 'refused'],
    ['SAVEPOINT a', 'refused'],
    [`PREPARE TRANSACTION 'x'`, 'refused'],
    ['SET ROLE postgres', 'refused'],
    ['RESET ALL', 'refused'],
    ['DISCARD ALL', 'refused'],
    ['COPY a FROM STDIN', 'refused'],
    [`LOAD 'x'`, 'refused'],
    ['NOTIFY a', 'refused'],
    ['LISTEN a', 'refused'],
    ['VACUUM', 'refused'],
    ['CREATE DATABASE a', 'refused'],
    ['CREATE ROLE a', 'refused'],
    ['ALTER SYSTEM SET a = 1', 'refused'],
    ['GRANT a TO b', 'refused'],
    ['CREATE EXTENSION dblink', 'refused'],
    [`CREATE SUBSCRIPTION a CONNECTION '' PUBLICATION b`, 'refused'],
    ['CREATE SERVER s FOREIGN DATA WRAPPER f', 'refused'],
    ['TRUNCATE a', 'truncate'],
    ['DROP TABLE a', 'schema'],
    ['SELECT 1', 'counted'],
    ['DO $$BEGIN END$$', 'counted'],
    ['VALUES (1)', 'counted'],
    ['WITH a AS (DELETE FROM b RETURNING *) SELECT * FROM a', 'counted'],
    ['WITH a AS (SELECT 1) DELETE FROM b', 'rows'],
    ['MERGE INTO a USING b ON true WHEN MATCHED THEN DELETE', 'rows'],
  ])('have a kind that decides if they are sent: %s is %s', async (text, kind) => {
    expect((await read(text))[0]?.kind).toBe(kind);
  });
});

describe('the added RETURNING', () => {
  /** The text with its RETURNING; null if none is added. */
  const sent = async (text: string, version = 180_004): Promise<string | null> => {
    const [statement] = await read(text);
    if (statement === undefined) throw new Error(`no statement: ${text}`);
    const instrumented = withReturning(statement, version);
    return 'text' in instrumented ? instrumented.text : null;
  };

  it('is on a separate line after the statement, with names that the statement does not use', async () => {
    expect(await sent('DELETE FROM a -- all')).toBe(
      `DELETE FROM a -- all\nRETURNING WITH (OLD AS o__, NEW AS n__) o__.tableoid, n__.tableoid, ${rowSql('o__')}, ${rowSql('n__')}`,
    );
    expect(await sent('DELETE FROM O__')).toContain('OLD AS o___, NEW AS n__)');
  });

  it('extends an existing RETURNING with the names that it defines', async () => {
    expect(await sent('DELETE FROM a RETURNING id')).toContain('RETURNING id\n, "old".tableoid, "new".tableoid');
    expect(await sent('DELETE FROM a RETURNING WITH (OLD AS "Was") id')).toContain(
      '\n, "Was".tableoid, "new".tableoid',
    );
  });

  it.each([
    'UPDATE a AS old SET x = 1 RETURNING x',
    'UPDATE a SET x = 1 FROM new RETURNING x',
    'WITH old AS (SELECT 1) UPDATE a SET x = 1 RETURNING x',
    'UPDATE a SET x = 1 FROM b AS was RETURNING WITH (OLD AS was) x',
  ])('is not added if OLD or NEW would be another table: %s', async (text) => {
    expect(await sent(text)).toBeNull();
  });

  it.each<readonly [version: number, text: string, added: boolean]>([
    [150_000, 'INSERT INTO a VALUES (1)', true],
    [150_000, 'DELETE FROM a AS "B"', true],
    [140_000, 'UPDATE a SET x = 1', true],
    [170_000, 'UPDATE a SET x = 1 WHERE CURRENT OF c', false],
    [170_000, 'INSERT INTO a VALUES (1) ON CONFLICT (id) DO UPDATE SET id = 2', false],
    [170_000, 'INSERT INTO a VALUES (1) ON CONFLICT DO NOTHING', true],
    [170_000, 'MERGE INTO a USING b ON true WHEN MATCHED THEN DELETE', false],
  ])('is limited to what an older server supports: on %d, %s', async (version, text, added) => {
    expect((await sent(text, version)) !== null).toBe(added);
  });

  it('has the new rows only on an older server, where OLD is a name like any other', async () => {
    expect(await sent('UPDATE a AS old SET x = 1 RETURNING x', 170_000)).toContain(
      `RETURNING x\n, NULL, "old".tableoid, NULL, ${rowSql('"old"')}`,
    );
  });
});
