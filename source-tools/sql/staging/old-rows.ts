/**
 * Rows before an UPDATE on PostgreSQL 14 to 17, where RETURNING returns only the rows after it.
 *
 * O1 The rows are read with the statement's own FROM and WHERE, and locked like the UPDATE locks them, so that no other session can
 *    change them in between (https://www.postgresql.org/docs/15/explicit-locking.html#LOCKING-ROWS). FOR UPDATE would also block
 *    foreign key checks of other sessions, which the UPDATE itself does not.
 * O2 The UPDATE has a later snapshot than this query and may change other rows. So they are compared afterwards: an old row version
 *    that is still visible was not changed, and the number of the others must be the number of rows that RETURNING returned.
 *    Otherwise nothing counts as captured.
 * O3 The query evaluates the conditions of the statement once more. So it is used only if the check before the rehearsal (gate.ts)
 *    found that they have no effect.
 */
import { list, onlyStatement } from '../facts/tree';
import { MAX_CAPTURED_BYTES, type CapturedRow, type Relation } from './captured-rows';
import { quoteIdentifier } from './identifiers';
import { rowText, rowSql } from './row-text';
import type { Row } from './driver-client';
import type { Session } from './session';
import { sourceQuery } from './source-query';
import { keyOf } from './touched';

/** The query that reads and locks the rows which an UPDATE will change: table oid, ctid, row. Null if it cannot be made from the text. */
export function oldRowsQuery(sql: string, alias: string): string | null {
  const update = onlyStatement(sql);
  if (update?.type !== 'UpdateStmt' || READS_LOCKS.test(JSON.stringify(update.node))) return null;
  const source = sourceQuery(sql, update);
  if (source === null || typeof source === 'number') return null;
  const name = quoteIdentifier(alias);
  const columns = `${name}.tableoid, ${name}.ctid, ${rowSql(name)}`;
  const query = `${source.with} SELECT ${columns} ${source.from}\nFOR NO KEY UPDATE OF ${name}`;
  const select = onlyStatement(query);
  return select?.type === 'SelectStmt' && list(select.node, 'lockingClause').length === 1 ? query : null;
}

/** System columns that change when a row is locked (https://www.postgresql.org/docs/15/ddl-system-columns.html). */
const READS_LOCKS = /"sval":"(?:xmax|cmax)"/;

/** Collects rows up to a number and a size. */
export class BoundedRows<T extends { readonly row: string }> {
  readonly rows: T[] = [];
  overflow = false;
  #bytes = 0;

  constructor(readonly maxRows: number) {}

  add(row: T): void {
    this.#bytes += row.row.length;
    if (this.rows.length < this.maxRows && this.#bytes <= MAX_CAPTURED_BYTES) this.rows.push(row);
    else this.overflow = true;
  }
}

interface OldRow {
  readonly table: string;
  readonly ctid: string;
  readonly row: string;
}

export interface NewRow {
  readonly table: string;
  readonly row: string;
}

/** Rejects with the driver's error. A row that a join matches several times is one row. */
export async function readOldRows(
  session: Session,
  query: { readonly text: string; readonly values: readonly unknown[]; readonly columns: readonly string[] },
  maxRows: number,
): Promise<BoundedRows<OldRow>> {
  const seen = new Set<string>();
  const kept = new BoundedRows<OldRow>(maxRows);
  const { text, values, columns } = query;
  await session.run({
    text,
    values,
    onRow: ([table, ctid, written]: Row) => {
      const id = `${table}/${ctid}`;
      if (kept.overflow || seen.has(id)) return;
      const row = rowText(written ?? null, columns);
      if (row === null) return;
      seen.add(id);
      kept.add({ table: table ?? '', ctid: ctid ?? '', row });
    },
  });
  return kept;
}

/** The given rows whose version is no longer visible to this transaction: those that it has changed since. */
export async function changedSince(
  session: Session,
  target: string,
  rows: readonly OldRow[],
): Promise<readonly OldRow[]> {
  if (rows.length === 0) return rows;
  const lists = [`{${rows.map(({ table }) => table).join(',')}}`, `{${rows.map(({ ctid }) => `"${ctid}"`).join(',')}}`];
  const found = await session.rows(
    STILL_VISIBLE.replace('$target', () => target),
    lists,
  );
  const visible = new Set(found.map(([table, ctid]) => `${table}/${ctid}`));
  return rows.filter(({ table, ctid }) => !visible.has(`${table}/${ctid}`));
}

/** $1: table oids, $2: ctids, in the same order. The first condition makes a TID scan possible. */
const STILL_VISIBLE = `
SELECT t.tableoid, t.ctid FROM $target AS t
WHERE t.ctid = ANY($2::tid[]) AND (t.tableoid, t.ctid) IN
  (SELECT known.o, known.c FROM ROWS FROM (pg_catalog.unnest($1::oid[]), pg_catalog.unnest($2::tid[])) AS known(o, c))`;

/**
 * Joins rows before and after by primary key. If the keys differ because the UPDATE changes them, a single row is still joined, and
 * several are returned unjoined: as rows that are gone and rows that are new.
 */
export function joinRows(
  work: number,
  before: readonly OldRow[],
  after: readonly NewRow[],
  relations: ReadonlyMap<string, Relation>,
): readonly CapturedRow[] {
  const [old] = before;
  const [now] = after;
  if (before.length === 1 && after.length === 1 && old !== undefined && now !== undefined)
    return [captured(work, old, now)];
  const idOf = ({ table, row }: NewRow): string | null => {
    const key = keyOf(relations.get(table), row);
    return key === null ? null : `${table}/${key}`;
  };
  const byKey = new Map(after.map((row) => [idOf(row), row]));
  const joined = before.map((row) => captured(work, row, byKey.get(idOf(row)) ?? null));
  const oldKeys = new Set(before.map(idOf));
  const same = !byKey.has(null) && byKey.size === after.length && oldKeys.size === before.length;
  if (same && joined.every((row) => row.newTable !== null)) return joined;
  return [...before.map((row) => captured(work, row, null)), ...after.map((row) => captured(work, null, row))];
}

function captured(work: number, old: OldRow | null, now: NewRow | null): CapturedRow {
  return {
    work,
    oldTable: old?.table ?? null,
    newTable: now?.table ?? null,
    before: old?.row ?? null,
    after: now?.row ?? null,
  };
}
