import { databaseClock } from '../../storage/database/database';
import { createBreakers, recordBreakerReset, type BreakersReading } from '../../storage/breakers/breakers';
import type { Env } from '../../workers/config';
import { loadTrustedOperatorKey } from '../key-files';
import { withOperatorDatabase } from '../operator-database';

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

/** Returns the ids of the validators that had a breaker. Throws `not_eligible` for a key that is not in the trust file. */
export async function resetBreakers(env: Env, request: BreakerResetRequest): Promise<readonly string[]> {
  const { tenant, sourceTool, validatorId, reason } = request;
  return await withOperatorDatabase(env, APPLICATION, async (db, operators) => {
    const key = loadTrustedOperatorKey(env, operators, request.operatorKey, '--operator-key');
    const breakers = createBreakers({ db, operators });
    const before = await breakers.read({ tenant, sourceTool });
    const issuedAt = (await databaseClock(db)()).toISOString();
    await recordBreakerReset(db, { tenant, sourceTool, validatorId, reason, issuedAt }, key);
    const ids = (before.breakers ?? []).map((view) => view.validatorId);
    return ids.filter((id) => validatorId === null || id === validatorId);
  });
}
