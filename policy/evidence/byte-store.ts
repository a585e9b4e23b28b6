import type { Sha256 } from '../contracts/hash';

/** Content-addressed store of diff bytes, per tenant. */
export interface ByteStore {
  /** Returns the SHA-256 of the bytes. Idempotent. Refuses more than MAX_DIFF_BYTES (VALIDATION_ERROR). */
  put(tenant: string, bytes: Uint8Array): Promise<Sha256>;
  /** The bytes, whose digest was recomputed. Not there: VALIDATION_ERROR; other bytes than the digest says: DIGEST_MISMATCH. Neither is retried. */
  get(tenant: string, digest: Sha256): Promise<Uint8Array>;
  has(tenant: string, digest: Sha256): Promise<boolean>;
}
