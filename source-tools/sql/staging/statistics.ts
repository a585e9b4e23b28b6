import { STATISTICS } from './catalog-queries';
import type { Session } from './session';

export interface Counts {
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
}

type Mutable = { -readonly [K in keyof Counts]: number };

/** Row counts by table oid. They may include earlier transactions of the connection, so use differences. */
export async function statistics(session: Session): Promise<Map<string, Counts>> {
  const found = await session.rows(STATISTICS);
  return new Map(
    found.map(([oid, inserted, updated, deleted]) => [
      oid ?? '',
      { inserted: Number(inserted), updated: Number(updated), deleted: Number(deleted) },
    ]),
  );
}

/** Counts in `after` minus those in `before`, without tables that did not change. */
export function difference(
  before: ReadonlyMap<string, Counts>,
  after: ReadonlyMap<string, Counts>,
): Map<string, Counts> {
  const out = new Map<string, Counts>();
  for (const [oid, now] of after) {
    const then = before.get(oid) ?? { inserted: 0, updated: 0, deleted: 0 };
    const d = {
      inserted: now.inserted - then.inserted,
      updated: now.updated - then.updated,
      deleted: now.deleted - then.deleted,
    };
    if (d.inserted !== 0 || d.updated !== 0 || d.deleted !== 0) out.set(oid, d);
  }
  return out;
}

/** Counts a row like the statistics do: a row that moves to another partition is one delete and one insert. */
export function countRow(
  counts: Map<string, Mutable>,
  row: { readonly oldTable: string | null; readonly newTable: string | null },
): void {
  const of = (oid: string) => {
    const found = counts.get(oid) ?? { inserted: 0, updated: 0, deleted: 0 };
    counts.set(oid, found);
    return found;
  };
  if (row.oldTable !== null && row.oldTable === row.newTable) {
    of(row.oldTable).updated++;
    return;
  }
  if (row.oldTable !== null) of(row.oldTable).deleted++;
  if (row.newTable !== null) of(row.newTable).inserted++;
}
