/**
 * What a change does to each table in the end, and its hash. Pure.
 *
 * H1 The old row is hashed whole, volatile columns too; the new row without them.
 * H2 A row that several statements touch counts once, from its first state to its last: a volatile value that one statement
 *    wrote is the next one's old row, and would otherwise never hash equal twice.
 * H3 What differs between two dry runs is volatile only where the rows before were equal: a base that moved in between is
 *    no volatile column.
 */
import { createHash } from 'node:crypto';
import type { Capture, CapturedRow, Relation } from './capture';
import { columnsOf } from './row-text';

export interface NetChange {
  /** JSON of the key’s values, each as the server wrote it; null for a row that did not exist, or a table without a key. */
  readonly key: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

/** Net changes by table label. */
export type NetChanges = ReadonlyMap<string, readonly NetChange[]>;

export function netChanges(capture: Pick<Capture, 'rows' | 'relations'>): NetChanges {
  const made = computed.get(capture) ?? computeNetChanges(capture);
  computed.set(capture, made);
  return made;
}

/** Comparison, record and preview ask for the same ones. */
const computed = new WeakMap<object, NetChanges>();

function computeNetChanges(capture: Pick<Capture, 'rows' | 'relations'>): NetChanges {
  const out = new Map<string, Change[]>();
  /** Where the row that now has a key stands, as of before the statement in hand. */
  const standing = new Map<string, Change>();
  let pending: [string, Change][] = [];
  let work = -1;
  for (const row of capture.rows) {
    if (row.work !== work) {
      // Within one statement every old row is from before it: `SET id = id + 1` must not chain its own results.
      for (const [place, change] of pending) standing.set(place, change);
      pending = [];
      work = row.work;
    }
    for (const side of sidesOf(row)) {
      const relation = capture.relations.get(side.oid);
      const label = relation?.label ?? side.oid;
      const oldKey = keyOf(relation, side.before);
      const newKey = keyOf(relation, side.after);
      const known = earlier(standing, side.oid, oldKey, newKey);
      const change = known ?? { key: oldKey, before: side.before, after: side.after };
      if (known !== undefined) known.after = side.after;
      else if (out.has(label)) out.get(label)?.push(change);
      else out.set(label, [change]);
      const place = newKey ?? oldKey;
      if (oldKey !== null && place !== oldKey) standing.delete(`${side.oid}/${oldKey}`);
      if (place !== null) pending.push([`${side.oid}/${place}`, change]);
    }
  }
  return out;
}

interface Change {
  readonly key: string | null;
  readonly before: string | null;
  after: string | null;
}

/** The change that an earlier statement began on this row: by its old key, or, inserted again after a delete, by its new one. */
function earlier(
  standing: ReadonlyMap<string, Change>,
  oid: string,
  oldKey: string | null,
  newKey: string | null,
): Change | undefined {
  if (oldKey !== null) return standing.get(`${oid}/${oldKey}`);
  const deleted = newKey === null ? undefined : standing.get(`${oid}/${newKey}`);
  return deleted?.after === null ? deleted : undefined;
}

/** A row that moved to another partition leaves one table and enters the other. */
function sidesOf(row: CapturedRow): { oid: string; before: string | null; after: string | null }[] {
  if (row.oldTable !== null && row.oldTable === row.newTable)
    return [{ oid: row.oldTable, before: row.before, after: row.after }];
  const sides: { oid: string; before: string | null; after: string | null }[] = [];
  if (row.oldTable !== null) sides.push({ oid: row.oldTable, before: row.before, after: null });
  if (row.newTable !== null) sides.push({ oid: row.newTable, before: null, after: row.after });
  return sides;
}

function keyOf(relation: Relation | undefined, row: string | null): string | null {
  if (row === null || relation?.key == null) return null;
  const columns = columnsOf(row);
  return JSON.stringify(relation.key.map((name) => columns.get(name) ?? 'null'));
}

/** SHA-256 over the sorted hashes of (key, row before, row after without `volatile`). */
export function touchedSha(changes: readonly NetChange[], volatile: readonly string[]): string {
  // JSON.stringify is canonical here: strings and null only.
  const digests = changes.map(({ key, before, after }) =>
    sha(JSON.stringify([key, before, after === null ? null : without(after, volatile)])),
  );
  return sha(`countersign/touched-rows/v1\n${digests.sort().join('\n')}`);
}

/** How one table came out in two dry runs. `moved`: not the same rows; run again. */
export type Comparison = { readonly kind: 'stable'; readonly volatile: readonly string[] } | { readonly kind: 'moved' };

export function compareRuns(first: readonly NetChange[], second: readonly NetChange[]): Comparison {
  const volatile = new Set<string>();
  const [olds, news] = [split(first), split(second)];
  if (olds.existing.length !== news.existing.length || olds.added.length !== news.added.length)
    return { kind: 'moved' };
  if (olds.existing.every((c) => c.key !== null)) {
    const byKey = new Map(news.existing.map((c) => [c.key, c]));
    if (byKey.size !== news.existing.length) return { kind: 'moved' };
    for (const a of olds.existing) {
      const b = byKey.get(a.key);
      if (b === undefined || a.before !== b.before || (a.after === null) !== (b.after === null))
        return { kind: 'moved' };
      if (a.after !== null && b.after !== null && a.after !== b.after)
        for (const name of differing(columnsOf(a.after), columnsOf(b.after))) volatile.add(name);
    }
  } else {
    for (const name of differingByColumn(afterRows(olds.existing), afterRows(news.existing))) volatile.add(name);
  }
  // New rows have no identity that both runs share (a sequence gives other keys): columns are compared as multisets.
  for (const name of differingByColumn(afterRows(olds.added), afterRows(news.added))) volatile.add(name);
  const names = [...volatile].sort();
  return touchedSha(first, names) === touchedSha(second, names)
    ? { kind: 'stable', volatile: names }
    : { kind: 'moved' };
}

function split(changes: readonly NetChange[]): { existing: readonly NetChange[]; added: readonly NetChange[] } {
  return { existing: changes.filter((c) => c.before !== null), added: changes.filter((c) => c.before === null) };
}

function afterRows(changes: readonly NetChange[]): Map<string, string>[] {
  return changes.flatMap((c) => (c.after === null ? [] : [columnsOf(c.after)]));
}

function differing(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string[] {
  const names: string[] = [];
  for (const [name, value] of a) if (b.get(name) !== value) names.push(name);
  for (const name of b.keys()) if (!a.has(name)) names.push(name);
  return names;
}

function differingByColumn(
  a: readonly ReadonlyMap<string, string>[],
  b: readonly ReadonlyMap<string, string>[],
): string[] {
  const names = new Set([...a, ...b].flatMap((row) => [...row.keys()]));
  return [...names].filter((name) => {
    const [left, right] = [a, b].map((rows) => JSON.stringify(rows.map((row) => row.get(name) ?? null).sort()));
    return left !== right;
  });
}

/** The server orders the members of a row, so what is left of it has one text too. */
function without(row: string, volatile: readonly string[]): string {
  if (volatile.length === 0) return row;
  const left: string[] = [];
  for (const [name, value] of columnsOf(row))
    if (!volatile.includes(name)) left.push(`${JSON.stringify(name)}: ${value}`);
  return `{${left.join(', ')}}`;
}

function sha(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
