import { sha256Hex } from '../../policy/contracts/hash';
import type { ByteStore } from '../../policy/evidence/byte-store';

/** The content store in memory. */
export function memoryByteStore(): ByteStore {
  const blobs = new Map<string, Uint8Array>();
  return {
    async put(tenant, bytes) {
      const digest = sha256Hex(bytes);
      blobs.set(`${tenant}/${digest}`, bytes.slice());
      return digest;
    },
    async get(tenant, digest) {
      const bytes = blobs.get(`${tenant}/${digest}`);
      if (bytes === undefined) throw new Error(`no bytes ${digest} for tenant ${tenant}`);
      return bytes.slice();
    },
    has: async (tenant, digest) => blobs.has(`${tenant}/${digest}`),
  };
}
