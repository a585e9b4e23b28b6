import { isJsonObject, type JsonObject, type JsonValue } from '../../../../policy/contracts/canonical-json';

export type CellState = 'same' | 'changed' | 'added' | 'removed' | 'not_compared';

export interface PreviewCell {
  /** Null if the row does not exist on that side. Values are JSON, so that they cannot imitate an arrow or another cell. */
  readonly before: string | null;
  readonly after: string | null;
  readonly state: CellState;
}

export interface PreviewRow {
  readonly kind: 'insert' | 'update' | 'delete';
  readonly cells: readonly PreviewCell[];
}

export interface PreviewTable {
  readonly table: string;
  readonly total: number;
  readonly columns: readonly { readonly name: string; readonly changes: boolean }[];
  readonly rows: readonly PreviewRow[];
}

/** The rows before and after of a dry run. `other`: the members of a preview that is not made of rows. */
export interface Preview {
  readonly tables: readonly PreviewTable[];
  readonly moreTables: number;
  readonly other: readonly (readonly [name: string, json: string])[];
}

export function previewOf(preview: JsonObject): Preview {
  const { tables, moreTables } = preview;
  const read = Array.isArray(tables) ? tables.map(tableOf) : [null];
  const known = read.filter((table) => table !== null);
  if (known.length === read.length && typeof moreTables === 'number' && Object.keys(preview).length === 2)
    return { tables: known, moreTables, other: [] };
  const other = Object.entries(preview).map(([name, value]) => [name, JSON.stringify(value)] as const);
  return { tables: [], moreTables: 0, other };
}

interface RawRow {
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
}

function tableOf(value: JsonValue): PreviewTable | null {
  if (!isJsonObject(value)) return null;
  const { table, total, rows } = value;
  if (typeof table !== 'string' || typeof total !== 'number' || !Array.isArray(rows)) return null;
  const read = rows.map(rowOf);
  const raw = read.filter((row) => row !== null);
  if (raw.length !== read.length) return null;
  const names = [...new Set(raw.flatMap(({ before, after }) => [...keys(before), ...keys(after)]))];
  const shown = raw.map((row): PreviewRow => {
    const kind = row.before === null ? 'insert' : row.after === null ? 'delete' : 'update';
    return { kind, cells: names.map((name) => cellOf(row, name)) };
  });
  const columns = names.map((name, i) => ({
    name,
    changes: shown.some(({ kind, cells }) => kind === 'update' && cells[i]?.state !== 'same'),
  }));
  return { table, total, columns, rows: shown };
}

function rowOf(value: JsonValue): RawRow | null {
  if (!isJsonObject(value)) return null;
  const { before = null, after = null } = value;
  if (before !== null && !isJsonObject(before)) return null;
  if (after !== null && !isJsonObject(after)) return null;
  return before === null && after === null ? null : { before, after };
}

function cellOf({ before, after }: RawRow, name: string): PreviewCell {
  const [old, now] = [cellText(before, name), cellText(after, name)];
  if (before === null) return { before: null, after: now, state: 'added' };
  if (after === null) return { before: old, after: null, state: 'removed' };
  if (now === NOT_COMPARED) return { before: old, after: now, state: 'not_compared' };
  return { before: old, after: now, state: old === now ? 'same' : 'changed' };
}

const NOT_COMPARED = 'not compared';

function cellText(row: JsonObject | null, name: string): string {
  const value = row !== null && Object.hasOwn(row, name) ? row[name] : undefined;
  if (value === undefined) return 'absent';
  return isJsonObject(value) && 'notCompared' in value ? NOT_COMPARED : JSON.stringify(value);
}

function keys(row: JsonObject | null): string[] {
  return row === null ? [] : Object.keys(row);
}
