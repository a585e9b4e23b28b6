/**
 * Net effect of a change on each table, and its hash. Pure.
 *
 * H1 All columns of the old row are hashed, including volatile ones. Volatile columns of the new row are not.
 * H2 A row changed by several statements counts once, from its first state to its last. Otherwise a volatile value written by one
 *    statement would be part of the next one's old row, and two runs would never have equal hashes.
 * H3 A column that differs between two dry runs is volatile only if the old rows were equal. If they differ, another session changed
 *    the data between the runs.
 */
import { createHash } from 'node:crypto';
import { memoizeByObject } from '../../../policy/text/memoize';
import type { CapturedRow, CapturedRows, Relation } from './captured-rows';
import { columnsOf } from './row-text';

export interface NetChange {
  /** JSON array of the key's values. Null for a row that did not exist or a table without a primary key. */
  readonly key: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

/** Net changes by table label. */
type NetChanges = ReadonlyMap<string, readonly NetChange[]>;

/** Memoized, because the comparison, the record and the preview use the same changes. */
export const netChanges = memoizeByObject(computeNetChanges);

function computeNetChanges(capture: CapturedRows): NetChanges {
  const out = new Map<string, Change[]>();
  /** Change of the row that has a key, by table and key, as of before the current statement. */
  const current = new Map<string, Change>();
  let pending: [string, Change][] = [];
  let work = -1;
  for (const row of capture.rows) {
    if (row.work !== work) {
      // Old rows of a statement are from before that statement: `SET id = id + 1` must not chain its own results.
      for (const [id, change] of pending) current.set(id, change);
      pending = [];
      work = row.work;
    }
    for (const side of sidesOf(row)) {
      const relation = capture.relations.get(side.oid);
      const label = relation?.label ?? side.oid;
      const oldKey = keyOf(relation, side.before);
      const newKey = keyOf(relation, side.after);
      const known = earlierChange(current, side.oid, oldKey, newKey);
      const change = known ?? { key: oldKey, before: side.before, after: side.after };
      if (known !== undefined) known.after = side.after;
      else if (out.has(label)) out.get(label)?.push(change);
      else out.set(label, [change]);
      const key = newKey ?? oldKey;
      if (oldKey !== null && key !== oldKey) current.delete(`${side.oid}/${oldKey}`);
      if (key !== null) pending.push([`${side.oid}/${key}`, change]);
    }
  }
  return out;
}

interface Change {
  readonly key: string | null;
  readonly before: string | null;
  after: string | null;
}

/** Change of the same row by an earlier statement: found by the old key, or by the new key if the row was deleted and is inserted again. */
function earlierChange(
  current: ReadonlyMap<string, Change>,
  oid: string,
  oldKey: string | null,
  newKey: string | null,
): Change | undefined {
  if (oldKey !== null) return current.get(`${oid}/${oldKey}`);
  const deleted = newKey === null ? undefined : current.get(`${oid}/${newKey}`);
  return deleted?.after === null ? deleted : undefined;
}

/** A row that moves to another partition is a delete in one table and an insert in the other. */
function sidesOf(row: CapturedRow): { oid: string; before: string | null; after: string | null }[] {
  if (row.oldTable !== null && row.oldTable === row.newTable)
    return [{ oid: row.oldTable, before: row.before, after: row.after }];
  const sides: { oid: string; before: string | null; after: string | null }[] = [];
  if (row.oldTable !== null) sides.push({ oid: row.oldTable, before: row.before, after: null });
  if (row.newTable !== null) sides.push({ oid: row.newTable, before: null, after: row.after });
  return sides;
}

/** JSON array of the values of the primary key. Null without a row or a primary key. */
export function keyOf(relation: Relation | undefined, row: string | null): string | null {
  if (row === null || relation?.key == null) return null;
  const columns = columnsOf(row);
  return JSON.stringify(relation.key.map((name) => columns.get(name) ?? null));
}

/** SHA-256 of the sorted hashes of [key, row before, row after without the `volatile` columns]. */
export function touchedSha(changes: readonly NetChange[], volatile: readonly string[]): string {
  // JSON.stringify is canonical for an array of strings and nulls.
  const digests = changes.map(({ key, before, after }) =>
    sha(JSON.stringify([key, before, after === null ? null : without(after, volatile)])),
  );
  return sha(`countersign/touched-rows/v1\n${digests.sort().join('\n')}`);
}

/** Comparison of one table in two dry runs. `moved`: the rows differ, so another run is needed. */
type Comparison = { readonly kind: 'stable'; readonly volatile: readonly string[] } | { readonly kind: 'moved' };

export function compareRuns(first: readonly NetChange[], second: readonly NetChange[]): Comparison {
  const volatile = new Set<string>();
  const [one, two] = [split(first), split(second)];
  if (one.existing.length !== two.existing.length || one.added.length !== two.added.length) return { kind: 'moved' };
  if (one.existing.every((c) => c.key !== null)) {
    const byKey = new Map(two.existing.map((c) => [c.key, c]));
    if (byKey.size !== two.existing.length) return { kind: 'moved' };
    for (const a of one.existing) {
      const b = byKey.get(a.key);
      if (b === undefined || a.before !== b.before || (a.after === null) !== (b.after === null))
        return { kind: 'moved' };
      if (a.after !== null && b.after !== null && a.after !== b.after)
        for (const name of differing(columnsOf(a.after), columnsOf(b.after))) volatile.add(name);
    }
  } else {
    for (const name of differingByColumn(afterRows(one.existing), afterRows(two.existing))) volatile.add(name);
  }
  // New rows have no common identity in both runs (a sequence gives other keys), so columns are compared as multisets.
  for (const name of differingByColumn(afterRows(one.added), afterRows(two.added))) volatile.add(name);
  const names = [...volatile].sort();
  return touchedSha(first, names) === touchedSha(second, names)
    ? { kind: 'stable', volatile: names }
    : { kind: 'moved' };
}

function split(changes: readonly NetChange[]): { existing: readonly NetChange[]; added: readonly NetChange[] } {
  return { existing: changes.filter((c) => c.before !== null), added: changes.filter((c) => c.before === null) };
}

function afterRows(changes: readonly NetChange[]): Columns[] {
  return changes.flatMap((c) => (c.after === null ? [] : [columnsOf(c.after)]));
}

type Columns = ReadonlyMap<string, string | null>;

function differing(a: Columns, b: Columns): string[] {
  const names: string[] = [];
  for (const [name, value] of a) if (b.get(name) !== value) names.push(name);
  for (const name of b.keys()) if (!a.has(name)) names.push(name);
  return names;
}

function differingByColumn(a: readonly Columns[], b: readonly Columns[]): string[] {
  const names = new Set([...a, ...b].flatMap((row) => [...row.keys()]));
  return [...names].filter((name) => {
    const [left, right] = [a, b].map((rows) =>
      rows
        .map((row) => JSON.stringify(row.get(name) ?? null))
        .sort()
        .join(),
    );
    return left !== right;
  });
}

/** Row text without the `volatile` columns. */
function without(row: string, volatile: readonly string[]): string {
  if (volatile.length === 0) return row;
  return JSON.stringify(Object.fromEntries([...columnsOf(row)].filter(([name]) => !volatile.includes(name))));
}

function sha(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
