import { CountersignError } from '../../client/errors';
import { GatewayPolicy, type PublishedRevision } from '../../client/gateway-policy';
import { createSigner } from '../../client/signer';
import { isSameRevision, signRevision } from '../../signing/policy-revision';
import { newestRevision } from '../../storage/plans/newest-revision';
import { publishBundle, type Publication } from '../../storage/plans/publish';
import { revokeRevision, type Revoked } from '../../storage/plans/revoke';
import type { Env } from '../../workers/config';
import { knownSettings } from '../../workers/local-client';
import type { GatewaySettings } from '../gateway/settings';
import { loadOperatorKey, loadTrustedOperatorKey } from '../key-files';
import { withOperatorDatabase } from '../operator-database';
import { UsageError } from '../usage-error';
import { checkedPlans, extensionsOfEnv } from './bundles';

const APPLICATION = 'countersign-policy';

type Publishing = Omit<Publication, 'trustedOperators'>;

export interface Published {
  readonly revision: number;
  /** False if the newest revision is the same. */
  readonly published: boolean;
}

/**
 * Compiles a bundle, signs it with an operator's key file (`--operator-key`, or that of the login) and makes it the newest revision, through the
 * gateway of `settings` or in the database.
 */
export async function publish(
  env: Env,
  settings: GatewaySettings | null,
  { bundleText, key, now }: { readonly bundleText: string; readonly key: string | undefined; readonly now: Date },
): Promise<Published> {
  const keyFile = key ?? settings?.keyFile ?? null;
  if (keyFile === null)
    throw new UsageError('--operator-key is missing: the file of an operator key, which signs the revision');
  const { operators } = settings?.trust ?? knownSettings(env);
  const operator = loadTrustedOperatorKey(env, operators, keyFile, '--operator-key');
  const plans = checkedPlans(bundleText, await extensionsOfEnv(env), now);
  const publishing = { bundleText, plans, operator };
  return settings === null
    ? await withOperatorDatabase(env, APPLICATION, (db, trustedOperators) =>
        publishBundle(db, { ...publishing, trustedOperators }),
      )
    : await publishAtGateway(atGateway(env, settings, keyFile), publishing, now);
}

/** Revokes a revision in the database, signed with an operator's key file. The gateway has no right to. */
export async function revoke(
  env: Env,
  of: { readonly revision: number; readonly reason: string },
  key: string,
): Promise<Revoked> {
  return await withOperatorDatabase(env, APPLICATION, (db, trustedOperators) => {
    const operator = loadTrustedOperatorKey(env, trustedOperators, key, '--operator-key');
    return revokeRevision(db, { ...of, operator, trustedOperators });
  });
}

/** The newest revision that a trusted operator signed and that is not revoked. Throws `not_found` if there is none. */
export async function newestPublished(
  env: Env,
  settings: GatewaySettings | null,
  key: string | undefined,
): Promise<PublishedRevision> {
  const { newest } =
    settings === null
      ? await withOperatorDatabase(env, APPLICATION, (db, operators) => newestRevision(db, operators))
      : await atGateway(env, settings, key).newest();
  if (newest !== null) return newest;
  throw new CountersignError(
    'not_found',
    'No policy is published that a trusted operator signed; use "countersign policy publish"',
  );
}

/** An operator key, that of `key` or of the login, signs the requests. */
function atGateway(env: Env, { url, trust, keyFile }: GatewaySettings, key: string | undefined): GatewayPolicy {
  const file = key ?? keyFile;
  if (file === null)
    throw new UsageError(`--operator-key is missing: requests to ${url} are signed, here by an operator key`);
  return new GatewayPolicy(
    { baseUrl: url, serviceKey: createSigner(loadOperatorKey(env, file, '--operator-key')) },
    trust,
  );
}

/** Dates the revision by the clock of this machine: an operator signs no time that a gateway states. The gateway accepts 5 minutes of difference. */
async function publishAtGateway(policy: GatewayPolicy, publishing: Publishing, now: Date): Promise<Published> {
  const { next, newest } = await policy.newest();
  if (newest !== null && isSameRevision(newest.revision, publishing))
    return { revision: newest.revision.revision, published: false };
  const { bundleText, operator } = publishing;
  const plans = publishing.plans.map(({ plan }) => plan);
  await policy.publish({ envelope: signRevision(next, publishing, operator, now), bundleText, plans });
  return { revision: next, published: true };
}
