import { databaseClock } from '../../storage/database/database';
import { createBreakers, recordBreakerReset, type BreakersReading } from '../../storage/breakers/breakers';
import type { Env } from '../../workers/config';
import { loadTrustedOperatorKey } from '../key-files';
import { withOperatorDatabase } from '../operator-database';
import { UsageError } from '../usage-error';

const APPLICATION = 'countersign-breaker';

export interface BreakerResetRequest {
  readonly tenant: string;
  readonly sourceTool: string;
  /** Null: all validators. */
  readonly validatorId: string | null;
  readonly reason: string;
  /** Path of the operator's key file. */
  readonly operatorKey: string;
}

/** Every breaker that has samples, sorted by tenant and source tool. */
export async function listBreakers(env: Env): Promise<readonly BreakersReading[]> {
  return await withOperatorDatabase(env, APPLICATION, (db, operators) => createBreakers({ db, operators }).list());
}

/**
 * Returns the ids of the validators that had a breaker; null if a row could not be read, and all breakers were closed. Throws
 * `not_eligible` for a key that is not in the trust file, and UsageError for one validator if a row cannot be read.
 */
export async function resetBreakers(env: Env, request: BreakerResetRequest): Promise<readonly string[] | null> {
  const { tenant, sourceTool, validatorId, reason } = request;
  return await withOperatorDatabase(env, APPLICATION, async (db, operators) => {
    const key = loadTrustedOperatorKey(env, operators, request.operatorKey, '--operator-key');
    const breakers = createBreakers({ db, operators });
    const { breakers: before } = await breakers.read({ tenant, sourceTool });
    if (before === null && validatorId !== null)
      throw new UsageError(
        `--validator: a row of ${tenant}/${sourceTool} cannot be read, so only all of its breakers can be reset. Repeat without --validator`,
      );
    const issuedAt = (await databaseClock(db)()).toISOString();
    await recordBreakerReset(db, { tenant, sourceTool, validatorId, reason, issuedAt }, key);
    const ids = before?.map((view) => view.validatorId) ?? null;
    return ids?.filter((id) => validatorId === null || id === validatorId) ?? null;
  });
}
