import type { KeyLookup } from '../policy/evidence/key-registry';
import { keyIdOf } from './key-id';

/** Looks up committers by the public keys of a configuration, 64 hex digits each, without the registry. */
export function committerKeys(committers: readonly string[]): KeyLookup {
  const byId = new Map(committers.map((publicKey) => [keyIdOf(publicKey), publicKey]));
  return (keyId) => {
    const publicKey = byId.get(keyId);
    if (publicKey === undefined) return undefined;
    return {
      kind: 'committer',
      subject: { type: 'service', id: 'committer' },
      onBehalfOf: null,
      tenants: [],
      rights: [],
      demo: false,
      keyId,
      publicKey,
      addedAt: '',
      operatorKeyId: '',
      revokedAt: null,
    };
  };
}
