import { CountersignError } from '../../client/errors';
import type { PublishedRevision } from '../../client/gateway-policy';
import type { Env } from '../../workers/config';
import { gatewaySettings } from '../gateway/settings';
import { loadOperatorKey } from '../key-files';
import { UsageError } from '../usage-error';
import { policyAtDatabase } from './at-database';
import { policyAtGateway } from './at-gateway';
import { checkedPlans, extensionsOfEnv } from './bundles';
import type { PublishedPolicy } from './published';

/** Compiles a bundle, signs it with an operator's key file (`--key`, or that of the login) and makes it the newest revision. */
export async function publish(
  env: Env,
  bundleText: string,
  key: string | undefined,
  now: Date,
): Promise<{ readonly revision: number; readonly published: boolean }> {
  const keyFile = key ?? gatewaySettings(env)?.keyFile ?? null;
  if (keyFile === null) throw new UsageError('--key is missing: the file of an operator key, which signs the revision');
  const operator = loadOperatorKey(env, keyFile, '--key');
  const plans = checkedPlans(bundleText, await extensionsOfEnv(env), now);
  return await withPolicy(env, keyFile, (policy) => policy.publish({ bundleText, plans, operator, now }));
}

/** The newest revision in force. Throws `not_found` if none is published. */
export async function newestPublished(env: Env, key: string | undefined): Promise<PublishedRevision> {
  const newest = await withPolicy(env, key ?? null, (policy) => policy.newest());
  if (newest !== null) return newest;
  throw new CountersignError(
    'not_found',
    'No policy is published that a trusted operator signed; use "countersign policy publish"',
  );
}

async function withPolicy<T>(
  env: Env,
  keyFile: string | null,
  work: (policy: PublishedPolicy) => Promise<T>,
): Promise<T> {
  const policy = openPolicy(env, keyFile);
  try {
    return await work(policy);
  } finally {
    await policy.close();
  }
}

function openPolicy(env: Env, given: string | null): PublishedPolicy {
  const settings = gatewaySettings(env);
  if (settings === null) return policyAtDatabase(env);
  const keyFile = given ?? settings.keyFile;
  if (keyFile === null)
    throw new UsageError(`--key is missing: requests to ${settings.url} are signed, here by an operator key`);
  return policyAtGateway(env, settings, keyFile);
}
