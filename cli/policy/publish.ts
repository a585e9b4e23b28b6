import { openDatabase } from '../../storage/database/database';
import { publishBundle } from '../../storage/plans/publish';
import { compileAll } from '../../workers/compile';
import { ConfigError, type Env } from '../../workers/config';
import { localClient } from '../../workers/local-client';
import { loadKey } from '../key-files';
import { extensionsOfEnv } from './bundles';

/** Signs a bundle with an operator's key file and stores it as the newest revision, with the database role of the operator. */
export async function publish(
  env: Env,
  bundleText: string,
  keyFile: string,
): Promise<{ readonly revision: number; readonly published: boolean }> {
  const operator = loadKey(env, keyFile);
  if (operator.kind !== 'operator')
    throw new ConfigError(`--key: expected an operator key, got a ${operator.kind} key`);
  const plans = compileAll(bundleText, await extensionsOfEnv(env));
  const db = openDatabase({ url: localClient(env).operatorDatabaseUrl, applicationName: 'countersign-policy', max: 1 });
  try {
    return await publishBundle(db, { bundleText, plans, operator, now: new Date() });
  } finally {
    await db.close();
  }
}
