import { sqlDryRunEffects } from '../../../../source-tools/sql/staging';
import { commitContext, stageContext } from './sql-context';
import { previewOf, recordOf } from '../../../support/staged-change';
import { onEachSharedServer } from './target-server';

const { stage, commit } = sqlDryRunEffects;

onEachSharedServer((use) => {
  const pg = use(`
      CREATE TYPE mood AS ENUM ('sad', 'glad');
      CREATE FUNCTION secret(mood) RETURNS json LANGUAGE sql IMMUTABLE AS $$ SELECT '"secret"'::json $$;
      CREATE CAST (mood AS json) WITH FUNCTION secret(mood);
      CREATE TYPE place AS (street text, tags text[]);
      CREATE TABLE held (id int PRIMARY KEY, text text, json json, jsonb jsonb, list int[], float float8, mood mood, place place);
      CREATE TABLE parent (id int PRIMARY KEY, x int);
      CREATE TABLE same (PRIMARY KEY (id)) INHERITS (parent);
      CREATE TABLE wider (PRIMARY KEY (id), price int) INHERITS (parent);`);
  beforeEach(() => pg.admin('TRUNCATE held, parent, same, wider'));

  const stageText = async (sql: string) => {
    const staged = stageContext(pg.stageUrl, sql);
    const result = await stage(staged);
    const record = recordOf(result);
    return { record, preview: previewOf(result), commit: () => commit(commitContext(staged, pg.commitUrl, record)) };
  };

  /** Two values of a column that its conversion to JSON does not distinguish. */
  const VALUES = [
    ['json', `'{"role": "user"}'`, `'{"role": "admin", "role": "user"}'`],
    ['json', `'{"a": 1}'`, `'{"a":1}'`],
    ['jsonb', `NULL`, `'null'`],
    ['list', `'{1,2}'`, `'[5:6]={1,2}'`],
    ['float', `'0'`, `'-0'`],
    ['mood', `'sad'`, `'glad'`],
    ['text', `NULL`, `''`],
    ['text', `NULL`, `'null'`],
    ['place', `NULL`, `ROW(NULL, NULL)`],
  ] as const;

  describe('a dry run', () => {
    it.each(VALUES)('shows that a %s changes from %s to %s', async (column, one, other) => {
      await pg.admin(`INSERT INTO held (id, "${column}") VALUES (1, ${one})`);
      const { record, preview } = await stageText(`UPDATE held SET "${column}" = ${other} WHERE id = 1`);
      expect(record).toMatchObject({ fullyCaptured: true, tables: [{ table: 'public.held', updated: 1 }] });
      const [row] = (preview as unknown as Preview).tables[0]?.rows ?? [];
      expect(row?.before[column]).not.toBe(row?.after[column]);
      expect({ ...row?.before, [column]: 0 }).toEqual({ ...row?.after, [column]: 0 });
    });

    it('shows values as the server writes them, whatever characters they contain', async () => {
      const text = `"quoted", (b) \\ 'c'\n\u{1f600}`;
      await pg.admin(
        `INSERT INTO held VALUES (1, $1, '{"a": "\\u0000"}', '{"a": [1.50, "\\\\"]}', '{NULL,1}', 'NaN', 'sad', ROW($1, ARRAY[$1, '']))`,
        [text],
      );
      const { preview } = await stageText('DELETE FROM held WHERE id = 1');
      const written = (value: string): string => `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
      const tags = `{${written(text)},""}`;
      expect((preview as unknown as Preview).tables[0]?.rows).toEqual([
        {
          before: {
            id: '1',
            text,
            json: '{"a": "\\u0000"}',
            jsonb: '{"a": [1.50, "\\\\"]}',
            list: '{NULL,1}',
            float: 'NaN',
            mood: 'sad',
            place: `(${[text, tags].map((v) => `"${v.replaceAll(/["\\]/g, '$&$&')}"`).join(',')})`,
          },
          after: null,
        },
      ]);
    });

    it('shows a change behind the start of a long value', async () => {
      await pg.admin(`INSERT INTO held (id, text) SELECT 1, repeat('a', 5000) || 'yes' || repeat('b', 5000)`);
      const { preview } = await stageText(`UPDATE held SET text = replace(text, 'yes', 'no!') WHERE id = 1`);
      const [row] = (preview as unknown as Preview).tables[0]?.rows ?? [];
      expect(row?.before['text']).toMatch(/^…a{40}yesb+… \(10003 characters\)$/);
      expect(row?.after['text']).toMatch(/^…a{40}no!b+… \(10003 characters\)$/);
    });

    it('does not list a row that the change inserts and deletes again', async () => {
      const { record, preview } = await stageText(
        `INSERT INTO held (id) VALUES (1), (2); DELETE FROM held WHERE id = 1`,
      );
      expect(record.tables).toMatchObject([{ inserted: 2, deleted: 1 }]);
      expect(preview).toMatchObject({ tables: [{ total: 1, rows: [{ before: null, after: { id: '2' } }] }] });
    });

    it('asks a person about rows of an inheriting table with further columns, which it does not show', async () => {
      await pg.admin(
        `INSERT INTO parent VALUES (1, 1); INSERT INTO same VALUES (2, 1); INSERT INTO wider VALUES (3, 1, 9)`,
      );
      for (const sql of [`DELETE FROM parent WHERE id = 3`, `UPDATE parent SET x = 2 WHERE x = 1`]) {
        const { record } = await stageText(sql);
        expect(record.uncaptured).toEqual([
          `statement 1 (${sql.slice(0, 6)}) changes rows of a table that inherits from "parent" and has more columns`,
        ]);
        expect(record.tables.find(({ table }) => table === 'public.wider')).toMatchObject({ touchedSha: null });
      }
      for (const sql of [
        `DELETE FROM parent WHERE id < 3`,
        `UPDATE ONLY parent SET x = 2 WHERE x = 1`,
        `DELETE FROM wider`,
      ])
        expect((await stageText(sql)).record).toMatchObject({ fullyCaptured: true });
    });
  });

  describe('a commit', () => {
    it.each(VALUES)('is stale when a %s was changed from %s to %s', async (column, one, other) => {
      await pg.admin(`INSERT INTO held (id, "${column}") VALUES (1, ${one})`);
      const staged = await stageText('DELETE FROM held WHERE id = 1');
      await pg.admin(`UPDATE held SET "${column}" = ${other}`);
      expect(await staged.commit()).toMatchObject({ kind: 'stale' });
    });
  });
});

interface Preview {
  readonly tables: readonly {
    readonly rows: readonly { readonly before: Record<string, unknown>; readonly after: Record<string, unknown> }[];
  }[];
}
