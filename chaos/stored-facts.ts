import type { ClientBase, Pool } from 'pg';
import type { LedgerLine } from './sweep/rules/review';

type Queried = Pick<Pool | ClientBase, 'query'>;

export interface StoredMarker {
  readonly effect: Readonly<Record<string, unknown>> | null;
  /** When its transaction wrote it. */
  readonly at: Date;
}

/** The markers of these changes in a target, by change. */
export async function markersIn(target: Queried, ids: readonly string[]): Promise<Map<string, StoredMarker>> {
  const { rows } = await target.query<StoredMarker & { change_id: string }>(
    'select change_id, effect, at from countersign.marker where change_id = any($1)',
    [ids],
  );
  return new Map(rows.map((row) => [row.change_id, row]));
}

/** The ledger rows of these changes, by change, in order. */
export async function ledgersIn(
  database: Queried,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly LedgerLine[]>> {
  const { rows } = await database.query<LedgerLine & { change_id: string }>(
    'select change_id, n, prev, hash, kind, at, actor, body from ledger where change_id = any($1) order by change_id, n',
    [ids],
  );
  const linesOf = new Map<string, LedgerLine[]>(ids.map((id) => [id, []]));
  for (const line of rows) linesOf.get(line.change_id)?.push(line);
  return linesOf;
}
