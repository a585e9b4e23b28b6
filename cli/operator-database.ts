import { withDatabase, type Database } from '../storage/database/database';
import type { Env } from '../workers/config';
import { operatorClient } from '../workers/local-client';
import type { OperatorKey } from '../signing/operator-key';

/** Runs `work` with the database role of the operator, and the operator keys that are trusted here. */
export async function withOperatorDatabase<T>(
  env: Env,
  applicationName: string,
  work: (db: Database, operators: readonly OperatorKey[]) => Promise<T>,
): Promise<T> {
  const { operatorDatabaseUrl: url, operators } = operatorClient(env);
  return await withDatabase({ url, applicationName, max: 1 }, (db) => work(db, operators));
}
