import type { Envelope } from '../policy/contracts/diff';
import type { Enrollment, KeyEntry, KeyKind, KeyRight } from '../policy/evidence/predicates';
import { signPredicate } from './envelope';
import { assertPublicKey, keyIdOf } from './key-id';
import type { SigningKey } from './keys';

/** The part of a registry entry that the operator decides. */
export type KeyGrant = Pick<KeyEntry, 'kind' | 'subject' | 'onBehalfOf' | 'tenants' | 'rights' | 'demo'>;

/** The rights that a key of each kind can have. Keys of our own processes have none. */
export const RIGHTS_BY_KIND: Readonly<Record<KeyKind, readonly KeyRight[]>> = {
  service: ['submit', 'read'],
  approver: ['read', 'answer'],
  operator: ['read', 'operate'],
  attestor: [],
  committer: [],
};

/** Every right of the kind in these tenants; nothing for keys of our own processes. */
export function fullGrant(kind: KeyKind, tenants: readonly string[]): Pick<KeyGrant, 'tenants' | 'rights'> {
  const rights = RIGHTS_BY_KIND[kind];
  return rights.length === 0 ? { tenants: [], rights: [] } : { tenants: [...tenants], rights: [...rights] };
}

/**
 * Signs an operator's registry entry for a key. Throws TypeError for an entry that must not be registered: a public key that
 * `assertPublicKey` refuses, an approver that is not a person (answers of agents and services never count), a right that keys of
 * this kind cannot have, or a right without a tenant.
 */
export function signKeyEntry(
  entry: KeyGrant & Pick<KeyEntry, 'publicKey' | 'addedAt'>,
  operator: SigningKey,
): Envelope {
  const { publicKey, addedAt, kind, subject, onBehalfOf, tenants, rights, demo } = entry;
  assertPublicKey(publicKey);
  if (kind === 'approver' && subject.type !== 'person') {
    throw new TypeError(
      `Key of ${subject.type} "${subject.id}": expected a person, since only people can approve; register it as a service key`,
    );
  }
  if (kind !== 'service' && onBehalfOf !== null)
    throw new TypeError(`Key of kind ${kind}: expected onBehalfOf null, since only service keys can have it`);
  const extra = rights.find((right) => !RIGHTS_BY_KIND[kind].includes(right));
  if (extra !== undefined)
    throw new TypeError(
      `Key of kind ${kind}: it cannot have the right "${extra}"; possible: ${RIGHTS_BY_KIND[kind].join(', ') || 'none'}`,
    );
  if ((rights.length === 0) !== (tenants.length === 0))
    throw new TypeError(`Key of kind ${kind}: expected rights and tenants, or neither; absent means denied`);
  const keyId = keyIdOf(publicKey);
  const granted = { kind, subject, onBehalfOf, tenants: [...tenants], rights: [...rights], demo };
  return signPredicate('key', { keyId, publicKey, ...granted, addedAt, operatorKeyId: operator.keyId }, operator);
}

/** What the operator decides about a one-time link. */
type EnrollmentGrant = Pick<Enrollment, 'subject' | 'tenants' | 'rights' | 'rpId' | 'origins' | 'demo'>;

/** Signs a one-time link, by which a person enrols one passkey. Throws TypeError for a grant that the schema refuses. */
export function signEnrollment(
  grant: EnrollmentGrant & Pick<Enrollment, 'keyId' | 'publicKey' | 'issuedAt' | 'expiresAt'>,
  operator: SigningKey,
): Envelope {
  return signPredicate('enrollment', { ...grant, operatorKeyId: operator.keyId }, operator);
}

export function signKeyRevocation(
  revocation: { readonly keyId: string; readonly reason: string; readonly revokedAt: string },
  operator: SigningKey,
): Envelope {
  return signPredicate('key-revocation', { ...revocation, operatorKeyId: operator.keyId }, operator);
}
