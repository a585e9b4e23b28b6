import { STATE } from './catalog-queries';
import type { Row } from './driver-client';
import type { Session } from './session';

export interface Counts {
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
}

export const NONE: Counts = { inserted: 0, updated: 0, deleted: 0 };

export function minus(a: Counts, b: Counts): Counts {
  return { inserted: a.inserted - b.inserted, updated: a.updated - b.updated, deleted: a.deleted - b.deleted };
}

export function sum(c: Counts): number {
  return c.inserted + c.updated + c.deleted;
}

export interface State {
  /** The columns of STATE: session, settings. */
  readonly facts: Row;
  /** Row counts by table oid. They may include earlier transactions of the connection, so use differences. */
  readonly counts: ReadonlyMap<string, Counts>;
}

/** `planCacheMode`: of the statements after it. */
export async function readState(session: Session, planCacheMode: string): Promise<State> {
  const [row] = await session.own(STATE, [planCacheMode]);
  if (row === undefined) throw new Error('The server did not return the state of the session');
  const found = JSON.parse(row.at(-2) ?? '[]') as readonly (readonly [string, number, number, number])[];
  const counts = found.map(([oid, inserted, updated, deleted]) => [oid, { inserted, updated, deleted }] as const);
  return { facts: row, counts: new Map(counts) };
}

/** Counts in `after` minus those in `before`, without tables that did not change. */
export function difference(
  before: ReadonlyMap<string, Counts>,
  after: ReadonlyMap<string, Counts>,
): Map<string, Counts> {
  const out = new Map<string, Counts>();
  for (const [oid, now] of after) {
    const d = minus(now, before.get(oid) ?? NONE);
    if (d.inserted !== 0 || d.updated !== 0 || d.deleted !== 0) out.set(oid, d);
  }
  return out;
}

/**
 * Counts rows like the statistics do: a row that is gone from a table and a row that is new in it are one update, so a row that
 * moves to another partition is one delete and one insert.
 */
export function countRows(
  counts: Map<string, Counts>,
  rows: readonly { readonly oldTable: string | null; readonly newTable: string | null }[],
): void {
  const sides = new Map<string, { gone: number; new: number }>();
  const of = (oid: string) => {
    const found = sides.get(oid) ?? { gone: 0, new: 0 };
    sides.set(oid, found);
    return found;
  };
  for (const { oldTable, newTable } of rows) {
    if (oldTable !== null) of(oldTable).gone++;
    if (newTable !== null) of(newTable).new++;
  }
  for (const [oid, side] of sides) {
    const { inserted, updated, deleted } = counts.get(oid) ?? NONE;
    const both = Math.min(side.gone, side.new);
    counts.set(oid, {
      inserted: inserted + side.new - both,
      updated: updated + both,
      deleted: deleted + side.gone - both,
    });
  }
}
