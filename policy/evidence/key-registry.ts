import type { Envelope } from '../contracts/diff';
import type { KeyEntry } from './predicates';

/** A registered key and whether it still counts. */
export interface RegisteredKey extends KeyEntry {
  /** Null while active. A revoked key signs nothing any more, whenever the signature was made. */
  readonly revokedAt: string | null;
}

/** A row of the registry that does not count, and why. It is reported, never used. */
export interface IgnoredKeyRow {
  readonly keyId: string;
  readonly problem: string;
}

export type KeyLookup = (keyId: string) => RegisteredKey | undefined;

/** The registry at one moment: what a synchronous verification reads. */
export interface KeySnapshot {
  readonly find: KeyLookup;
  readonly keys: readonly RegisteredKey[];
  readonly ignored: readonly IgnoredKeyRow[];
}

/** Keys outside the plan: revoking one acts at once (DESIGN §5). Every method throws STORE_UNAVAILABLE, retryable, while the database is away. */
export interface KeyRegistry {
  /** At most a second old, or `maxAgeMs`; 0 reads it now, and a revocation that stands counts. */
  snapshot(maxAgeMs?: number): Promise<KeySnapshot>;
  find(keyId: string): Promise<RegisteredKey | null>;
  list(): Promise<readonly RegisteredKey[]>;
  /** Active approver keys of these people. */
  activeKeysOf(persons: readonly string[]): Promise<readonly RegisteredKey[]>;
  /** Adds an entry that a trusted operator key signed. The same entry again changes nothing; another one for a known key id is refused. */
  add(envelope: Envelope): Promise<RegisteredKey>;
  /** Revokes by a statement that a trusted operator key signed. There is no way back: a new key is a new entry. */
  revoke(envelope: Envelope): Promise<void>;
}
