import type { Envelope } from '../contracts/diff';
import type { PasskeyKey } from './passkey-key';
import { ANY_TENANT, type KeyEntry, type KeyRight } from './predicates';

interface Revocable {
  /** Null while active. All signatures of a revoked key are invalid, including those made before. */
  readonly revokedAt: string | null;
  /** True if no trusted operator signed the revocation. It counts all the same, except for why nothing was committed. */
  readonly unsignedRevocation?: true;
}

/** An Ed25519 key that an operator registered. */
export interface RegisteredEd25519Key extends KeyEntry, Revocable {}

/** A passkey that a person enrolled with a one-time link of an operator. It belongs to an approver. */
export interface RegisteredPasskey extends Omit<KeyEntry, 'publicKey'>, Revocable {
  readonly passkey: PasskeyKey;
  /** Id of the one-time key of the link. Its revocation also revokes the passkey. */
  readonly enrollmentKeyId: string;
}

/** A registered key and its revocation. A passkey has the member `passkey`, any other key has `publicKey`. */
export type RegisteredKey = RegisteredEd25519Key | RegisteredPasskey;

/** The key ids whose revocation revokes this key: a passkey is also revoked with the link by which it was enrolled. */
export function revocableIds(key: { readonly keyId: string; readonly enrollmentKeyId?: string }): readonly string[] {
  return key.enrollmentKeyId === undefined ? [key.keyId] : [key.keyId, key.enrollmentKeyId];
}

/** True for an approver key of a person. No other key can answer, whatever its rights. Does not look at revocations. */
export function isApprover(key: Pick<KeyEntry, 'kind' | 'subject'>): boolean {
  return key.kind === 'approver' && key.subject.type === 'person';
}

/** What a key is used for: a right in one tenant. */
export interface KeyUse {
  readonly right: KeyRight;
  readonly tenant: string;
}

/** Whether the operator's entry grants this use. Does not look at revocations. */
export function mayUse(key: Pick<KeyEntry, 'tenants' | 'rights'>, { right, tenant }: KeyUse): boolean {
  return key.rights.includes(right) && (key.tenants.includes(tenant) || key.tenants.includes(ANY_TENANT));
}

/** An invalid row of the registry. It is reported and never used. */
export interface IgnoredKeyRow {
  readonly keyId: string;
  readonly problem: string;
}

export type KeyLookup = (keyId: string) => RegisteredKey | undefined;

/**
 * The registry as evidence is verified with: a revocation that no trusted operator signed does not count. For rollbacks only, so that the
 * committer signs no reason that the evidence does not support.
 */
export function withoutUnsignedRevocations(find: KeyLookup): KeyLookup {
  return (keyId) => {
    const key = find(keyId);
    return key?.unsignedRevocation === true ? { ...key, revokedAt: null } : key;
  };
}

/** The registry at one point in time, for synchronous verification. */
export interface KeySnapshot {
  readonly find: KeyLookup;
  readonly keys: readonly RegisteredKey[];
  readonly ignored: readonly IgnoredKeyRow[];
}

/**
 * The registered keys. They are not part of a plan, so that a revocation takes effect at once. Every method throws
 * STORE_UNAVAILABLE (retryable) while the database is unavailable.
 */
export interface KeyRegistry {
  /** A snapshot at most `maxAgeMs` old (default one second). 0 reads the database, so that every revocation is seen. */
  snapshot(maxAgeMs?: number): Promise<KeySnapshot>;
  find(keyId: string): Promise<RegisteredKey | null>;
  list(): Promise<readonly RegisteredKey[]>;
  /** Active approver keys of these people. */
  activeKeysOf(persons: readonly string[]): Promise<readonly RegisteredKey[]>;
  /** Adds an entry signed by a trusted operator key. Adding the same entry again is a no-op; another entry for a known key id is refused. */
  add(envelope: Envelope): Promise<RegisteredKey>;
  /**
   * Revokes a key, passkey or link by a statement signed by a trusted operator key. A revocation is final: register a new key instead.
   * Throws VALIDATION_ERROR for an id that none of them has.
   */
  revoke(envelope: Envelope): Promise<void>;
}

/**
 * Calls `judge` with the cached registry, and again with the current one if it looked up a key that the cache does not have: the key can
 * be newer than the cache. Otherwise one attempt could refuse a signature and the next one count it, and after a lost result the ledger and
 * the workflow would have different answers. `judge` must be pure, since it may run twice.
 */
export async function withCurrentKeys<T>(
  keys: Pick<KeyRegistry, 'snapshot'>,
  judge: (find: KeyLookup) => T,
): Promise<T> {
  const cached = await keys.snapshot();
  let isMissing = false;
  const result = judge((keyId) => {
    const key = cached.find(keyId);
    if (key === undefined) isMissing = true;
    return key;
  });
  return isMissing ? judge((await keys.snapshot(0)).find) : result;
}
