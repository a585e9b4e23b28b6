/**
 * SQL of the SQLCAS operations. Names are quoted. Values are sent as JSON parameters that the server converts to the column types
 * (`jsonb_to_record`), so no value becomes part of the SQL text and no number is converted to a float.
 */
import { COLUMN_TYPES } from './catalog-queries';
import { expectedColumns, type CasRow } from '../facts/cas-document';
import { casTable } from '../facts/sql-cas-facts';
import { quoteIdentifier, quoteRelation } from './identifiers';
import type { Session } from './session';

/** Column types as SQL text, by column name. Names that are not columns of the table are missing. */
export type ColumnTypes = ReadonlyMap<string, string>;

interface CasSql {
  readonly text: string;
  readonly values: readonly string[];
}

export async function columnTypes(
  session: Session,
  relation: string,
  columns: readonly string[],
): Promise<ColumnTypes> {
  const rows = await session.own(COLUMN_TYPES, [relation, JSON.stringify(columns)]);
  return new Map(rows.map(([name, type]) => [name ?? '', type ?? '']));
}

/** SQL that reads a JSON parameter as a one-row table with typed columns. */
function keyRecord(
  alias: string,
  columns: readonly string[],
  types: ColumnTypes,
  parameter: number,
): { readonly from: string; readonly equals: (other: string) => string; readonly same: (other: string) => string } {
  const list = columns.map((c) => `${quoteIdentifier(c)} ${types.get(c) ?? 'text'}`).join(', ');
  const pairs = (operator: string, other: string): string =>
    columns.map((c) => `${other}.${quoteIdentifier(c)} ${operator} ${alias}.${quoteIdentifier(c)}`).join(' AND ');
  return {
    from: `pg_catalog.jsonb_to_record($${parameter}::jsonb) AS ${alias}(${list})`,
    equals: (other) => pairs('=', other),
    same: (other) => pairs('IS NOT DISTINCT FROM', other),
  };
}

/** Locks the row of an update or delete, without checking its expected values. Locks at most two rows, in case the key is not unique. */
export function lockSql(row: CasRow, types: ColumnTypes): CasSql {
  const k = keyRecord('k', Object.keys(row.key), types, 1);
  return {
    text: `SELECT 1 FROM ${quoteRelation(casTable(row.table))} AS t, ${k.from} WHERE ${k.equals('t')} LIMIT 2 FOR UPDATE OF t`,
    values: [JSON.stringify(row.key)],
  };
}

/** The compare-and-set statement, which changes one row or none. */
export function casSql(row: CasRow, types: ColumnTypes): CasSql {
  const relation = quoteRelation(casTable(row.table));
  const values = [JSON.stringify(row.key)];
  const k = keyRecord('k', Object.keys(row.key), types, 1);
  const from = [k.from];
  const where = [k.equals('t')];
  const expected = expectedColumns(row);
  if (expected.length > 0) {
    values.push(JSON.stringify(Object.fromEntries(expected.map((c) => [c, row.expect?.[c]]))));
    const e = keyRecord('e', expected, types, values.length);
    from.push(e.from);
    where.push(e.same('t'));
  }
  const rowSha = row.expect?.['rowSha'];
  if (typeof rowSha === 'string') {
    values.push(rowSha);
    where.push(`${rowShaSql('t')} = $${values.length}`);
  }
  const set = Object.keys(row.set ?? {});
  if (set.length > 0) {
    values.push(JSON.stringify(row.set));
    from.push(keyRecord('s', set, types, values.length).from);
  }
  const quoted = set.map(quoteIdentifier);
  switch (row.op) {
    case 'update':
      return {
        text: `UPDATE ${relation} AS t SET ${quoted.map((c) => `${c} = s.${c}`).join(', ')} FROM ${from.join(', ')} WHERE ${where.join(' AND ')}`,
        values,
      };
    case 'delete':
      return { text: `DELETE FROM ${relation} AS t USING ${from.join(', ')} WHERE ${where.join(' AND ')}`, values };
    case 'insert': {
      const keys = Object.keys(row.key).map(quoteIdentifier);
      const list = [...keys.map((c) => `k.${c}`), ...quoted.map((c) => `s.${c}`)];
      return {
        text: `INSERT INTO ${relation} AS t (${[...keys, ...quoted].join(', ')}) SELECT ${list.join(', ')} FROM ${from.join(', ')} ON CONFLICT (${keys.join(', ')}) DO NOTHING`,
        values,
      };
    }
    default:
      return row.op satisfies never;
  }
}

/**
 * SQL expression for the hash of the row `alias`, used as `expect.rowSha`: lowercase hexadecimal SHA-256 of the UTF-8 bytes of
 * `to_jsonb(row)::text` with the settings of transaction-start.ts. PostgreSQL orders the members of jsonb, so the text is deterministic.
 */
function rowShaSql(alias: string): string {
  return `pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.to_jsonb(${alias}.*)::text, 'UTF8')), 'hex')`;
}
