import type { Envelope } from '../policy/contracts/diff';
import type { KeyEntry } from '../policy/evidence/predicates';
import { signPredicate } from './envelope';
import type { KeyLabel } from './key-file';
import { assertPublicKey, keyIdOf, type SigningKey } from './keys';

/**
 * Signs an operator's registry entry for a key. Throws TypeError for a public key that must not be registered (see
 * `assertPublicKey`), and for an approver that is not a person: answers of agents and services never count.
 */
export function signKeyEntry(
  entry: KeyLabel & Pick<KeyEntry, 'publicKey' | 'addedAt'>,
  operator: SigningKey,
): Envelope {
  const { publicKey, addedAt, kind, subject, onBehalfOf, demo } = entry;
  assertPublicKey(publicKey);
  if (kind === 'approver' && subject.type !== 'person') {
    throw new TypeError(
      `Key of ${subject.type} "${subject.id}": expected a person, since only people can approve; register it as a service key`,
    );
  }
  if (kind !== 'service' && onBehalfOf !== null)
    throw new TypeError(`Key of kind ${kind}: expected onBehalfOf null, since only service keys can have it`);
  return signPredicate(
    'key',
    { keyId: keyIdOf(publicKey), publicKey, kind, subject, onBehalfOf, demo, addedAt, operatorKeyId: operator.keyId },
    operator,
  );
}

export function signKeyRevocation(
  revocation: { readonly keyId: string; readonly reason: string; readonly revokedAt: string },
  operator: SigningKey,
): Envelope {
  return signPredicate('key-revocation', { ...revocation, operatorKeyId: operator.keyId }, operator);
}
