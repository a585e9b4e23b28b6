import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import type { StoredRow } from '../../policy/evidence/chain';

/** Each try verifies the rows that arrived in the meantime. People send few statements, so more tries mean a flood of messages. */
const MAX_TRIES = 10;

/**
 * Reads, verifies and settles, and does all of it again if rows arrived after those that were read (`moved`). Throws STORE_UNAVAILABLE,
 * which is retried within the time-out of the activity, if rows keep arriving.
 */
export async function verifyUntilCurrent<T>(changeId: string, verify: () => Promise<T | 'moved'>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const result = await verify();
    if (result !== 'moved') return result;
  }
  throw CountersignFailure.retryable(
    `Answers or findings of ${changeId} arrived during each of ${MAX_TRIES} verifications`,
    FailureType.Store,
  );
}

/** Number of the last row; -1 without rows. */
export function lastNOf(rows: readonly StoredRow[]): number {
  return rows.at(-1)?.row.n ?? -1;
}
