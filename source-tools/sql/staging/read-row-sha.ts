import { columnTypes, keyRecord, toRelationName } from './cas-sql';
import { quoteRelation } from './identifiers';
import { rowShaSql } from './row-sha';
import { openSession } from './session';
import { toSqlSettings } from '../staging-settings';

/** Reads a row and its hash, for authors of a change. Null if the row does not exist. Rejects with the driver's error. */
export async function readRowSha(
  url: string,
  table: string,
  key: Readonly<Record<string, string | number | boolean>>,
): Promise<{ readonly rowSha: string; readonly row: string } | null> {
  const session = await openSession({ url, changeId: 'row', settings: toSqlSettings({}) });
  try {
    const relation = quoteRelation(toRelationName(table));
    const types = await columnTypes(session, relation, Object.keys(key));
    const k = keyRecord('k', Object.keys(key), types, 1);
    const [row] = await session.rows(
      `SELECT ${rowShaSql('t')}, pg_catalog.to_jsonb(t.*)::text FROM ${relation} AS t, ${k.from} WHERE ${k.equals('t')}`,
      [JSON.stringify(key)],
    );
    return row === undefined ? null : { rowSha: row[0] ?? '', row: row[1] ?? '' };
  } finally {
    await session.close();
  }
}
