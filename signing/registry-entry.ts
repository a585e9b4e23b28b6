import type { Envelope } from '../policy/contracts/diff';
import type { KeyEntry } from '../policy/evidence/predicates';
import { signPredicate } from './envelope';
import type { KeyLabel } from './key-file';
import { assertPublicKey, keyIdOf, type SigningKey } from './keys';

/**
 * An operator's signed entry for a key. Throws TypeError for a public key that must not be registered (small order and the like),
 * and for an approver that is no person: agents and services never count.
 */
export function signKeyEntry(
  entry: KeyLabel & Pick<KeyEntry, 'publicKey' | 'addedAt'>,
  operator: SigningKey,
): Envelope {
  const { publicKey, addedAt, kind, subject, onBehalfOf, demo } = entry;
  assertPublicKey(publicKey);
  if (kind === 'approver' && subject.type !== 'person') {
    throw new TypeError(
      `Key of ${subject.type} "${subject.id}": expected a person, since only people approve; register it as service`,
    );
  }
  if (kind !== 'service' && onBehalfOf !== null)
    throw new TypeError(`Key of kind ${kind}: onBehalfOf is for service keys, expected null`);
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
