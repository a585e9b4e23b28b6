import { databaseClock, withDatabase } from '../../storage/database/database';
import { createKeyRegistry } from '../../storage/keys/key-registry';
import { publishBundle } from '../../storage/plans/publish';
import type { LoadedKey } from '../../signing/key-file';
import { keyIdOf } from '../../signing/key-id';
import { fullGrant, signKeyEntry, type KeyGrant } from '../../signing/registry-entry';
import { compileAll } from '../../workers/compile';
import { ConfigError } from '../../workers/config';
import type { Extensions } from '../../workers/extensions';
import { ANY_TENANT } from '../../policy/evidence/predicates';
import type { ServiceKeys } from './keys';
import type { InitRequest } from './request';
import type { OperatorKey } from '../../signing/operator-key';

interface Holder {
  readonly publicKey: string;
  readonly grant: KeyGrant;
}

export interface Registered {
  readonly registered: number;
  readonly known: number;
  /** The revision of the given policy; null without one. */
  readonly revision: { readonly revision: number; readonly published: boolean } | null;
  /** Whether any policy is published. */
  readonly anyPolicy: boolean;
}

export interface Registration {
  readonly request: InitRequest;
  readonly operatorUrl: string;
  readonly operator: LoadedKey;
  /** Public keys. What any of them has registered and published counts. */
  readonly trustedOperators: readonly OperatorKey[];
  readonly keys: ServiceKeys;
  /** Public keys of the people, by name. */
  readonly people: ReadonlyMap<string, string>;
  readonly policyText: string | null;
  readonly extensions: Extensions;
}

/** Registers the keys of processes, agents and people, and publishes the policy, signed by the operator. Idempotent. */
export async function registerAll(registration: Registration): Promise<Registered> {
  const { request, operator, trustedOperators, policyText, extensions } = registration;
  const options = { url: registration.operatorUrl, applicationName: 'countersign-init', max: 2 };
  return await withDatabase(options, async (db) => {
    const registry = createKeyRegistry({ db, trustedOperators, now: Date.now });
    const snapshot = await registry.snapshot();
    const addedAt = (await databaseClock(db)()).toISOString();
    let registered = 0;
    const holders = holdersOf(registration);
    for (const { publicKey, grant } of holders) {
      const found = snapshot.find(keyIdOf(publicKey));
      if (found?.revokedAt != null)
        throw new ConfigError(
          `The key of ${grant.subject.type} "${grant.subject.id}" was revoked on ${found.revokedAt}, which is permanent; give a new key, for a process or an agent by moving its file out of ${request.dir}/keys`,
        );
      // Fails if the key is registered for another holder or with other rights.
      await registry.add(signKeyEntry({ ...grant, publicKey, addedAt }, operator));
      if (found === undefined) registered += 1;
    }
    const revision =
      policyText === null
        ? null
        : await publishBundle(db, {
            bundleText: policyText,
            plans: compileAll(policyText, extensions),
            operator,
            trustedOperators,
          });
    const { rowCount } = await db.query('select from policy_revisions limit 1');
    return { registered, known: holders.length - registered, revision, anyPolicy: rowCount === 1 };
  });
}

function holdersOf({ request, keys, people, operator }: Registration): readonly Holder[] {
  const tenants = [request.tenant];
  const own = [keys.review, keys.judge, keys.commit, ...keys.agents].map(({ key }) => key);
  const approvers = [...people].map(([id, publicKey]) => ({
    publicKey,
    kind: 'approver' as const,
    subject: { type: 'person' as const, id },
    onBehalfOf: null,
  }));
  return [
    // Trusted by the trust file; the entry lets the operator publish the policy, which is for every tenant, through the gateway.
    toHolder(operator, [ANY_TENANT]),
    ...[...own, ...approvers].map((key) => toHolder(key, tenants)),
  ];
}

function toHolder(
  { publicKey, kind, subject, onBehalfOf }: Pick<LoadedKey, 'publicKey' | 'kind' | 'subject' | 'onBehalfOf'>,
  tenants: readonly string[],
): Holder {
  return { publicKey, grant: { kind, subject, onBehalfOf, demo: false, ...fullGrant(kind, tenants) } };
}
