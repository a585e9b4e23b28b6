import type { Sha256 } from '../contracts/hash';

/** Content-addressed store of diff bytes, per tenant. */
export interface ByteStore {
  /** Stores the bytes and returns their SHA-256. Idempotent. Throws VALIDATION_ERROR for more than MAX_DIFF_BYTES. */
  put(tenant: string, bytes: Uint8Array): Promise<Sha256>;
  /** Returns the bytes after verifying their digest. Throws VALIDATION_ERROR if absent and DIGEST_MISMATCH if altered; neither is retryable. */
  get(tenant: string, digest: Sha256): Promise<Uint8Array>;
  has(tenant: string, digest: Sha256): Promise<boolean>;
}
