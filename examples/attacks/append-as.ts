import { query } from '../../dev/query';
import type { Testbed } from './testbed';

export type ProcessRole = 'cs_gateway' | 'cs_judge' | 'cs_review';

export interface AppendedRow {
  readonly kind?: string;
  readonly body?: string;
  readonly fact?: string;
  readonly at?: string;
}

/** Appends a row of any kind, body and time with the database role of a process. What the database answered if it refused, else null. */
export async function appendAs(
  testbed: Testbed,
  role: ProcessRole,
  changeId: string,
  row: AppendedRow,
  projection: string | null = null,
): Promise<string | null> {
  const { kind = 'refused', body = '{}', fact = `second:${Math.random()}` } = row;
  return query(
    testbed.dev.setup.databaseUrls[role],
    `select * from ledger_append($1, array[$2], array[$3], array[$4], array[$5], '{null}', '{null}', $6::json)`,
    [changeId, kind, row.at ?? new Date().toISOString(), body, fact, projection],
  ).then(
    () => null,
    (error: unknown) => String(error),
  );
}
