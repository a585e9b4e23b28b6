import type {
  KeyLookup,
  KeyRegistry,
  KeySnapshot,
  RegisteredEd25519Key,
  RegisteredKey,
} from '../../policy/evidence/key-registry';
import type { KeyEntry } from '../../policy/evidence/predicates';
import { fullGrant } from '../../signing/registry-entry';
import { newKeyPair, type SigningKey } from '../../signing/keys';

/** A key pair with its registry entry. */
export interface TestKey extends SigningKey {
  readonly entry: RegisteredEd25519Key;
}

export const TEST_TIME = '2026-01-02T03:04:05.000Z';

export function testKey(
  kind: KeyEntry['kind'],
  id: string,
  more: Partial<RegisteredEd25519Key> = {},
  key: SigningKey = newKeyPair(),
): TestKey {
  const type = kind === 'approver' || kind === 'operator' ? 'person' : 'service';
  const entry: RegisteredEd25519Key = {
    keyId: key.keyId,
    publicKey: key.publicKey,
    kind,
    subject: { type, id },
    onBehalfOf: null,
    ...fullGrant(kind, ['*']),
    demo: false,
    addedAt: TEST_TIME,
    operatorKeyId: '0'.repeat(64),
    revokedAt: null,
    ...more,
  };
  return { ...key, entry };
}

export function lookup(...keys: readonly { readonly entry: RegisteredKey }[]): KeyLookup {
  const byId = new Map(keys.map(({ entry }) => [entry.keyId, entry]));
  return (keyId) => byId.get(keyId);
}

/** A registry with these keys. It refuses changes. */
export function testRegistry(...keys: readonly { readonly entry: RegisteredKey }[]): KeyRegistry {
  const entries = keys.map(({ entry }) => entry);
  const snapshot: KeySnapshot = { find: lookup(...keys), keys: entries, ignored: [] };
  const refuse = (): Promise<never> => Promise.reject(new Error('The test registry cannot be changed'));
  return {
    snapshot: async () => snapshot,
    find: async (keyId) => snapshot.find(keyId) ?? null,
    list: async () => entries,
    activeKeysOf: async (persons) =>
      entries.filter(
        (e) =>
          e.kind === 'approver' &&
          e.subject.type === 'person' &&
          e.revokedAt === null &&
          persons.includes(e.subject.id),
      ),
    add: refuse,
    revoke: refuse,
  };
}
