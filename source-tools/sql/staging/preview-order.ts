/**
 * The order of the rows of a preview: by primary key, integers as numbers. It depends only on what is shown of a row, because a value
 * that is not compared differs from one dry run to the next.
 */
import { canonicalJson, type JsonObject } from '../../../policy/contracts/canonical-json';

export interface PreviewRow extends JsonObject {
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
}

/** The shown values of the key, each as text, and the whole row for rows that these do not distinguish. */
type SortKey = readonly string[];

/** `key`: the columns of the primary key, of the row before if it exists. */
export function sortKey(row: PreviewRow, key: readonly string[]): SortKey {
  const columns = row.before ?? row.after ?? {};
  const values = key.map((name) => {
    const value = Object.hasOwn(columns, name) ? columns[name] : undefined;
    return typeof value === 'string' ? value : '';
  });
  return [...values, canonicalJson(row)];
}

/** A total order of keys of the same table. */
export function compareKeys(a: SortKey, b: SortKey): number {
  for (const [i, value] of a.entries()) {
    const difference = compareTexts(value, b[i] ?? '');
    if (difference !== 0) return difference;
  }
  return 0;
}

const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;

/** Integers as PostgreSQL writes them come first, compared as numbers of any size. Other texts are compared by code units. */
function compareTexts(a: string, b: string): number {
  const [x, y] = [INTEGER.test(a), INTEGER.test(b)];
  if (x !== y) return x ? -1 : 1;
  const difference = x ? BigInt(a) - BigInt(b) : 0n;
  if (difference !== 0n) return difference < 0n ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}
