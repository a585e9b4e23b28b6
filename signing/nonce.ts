import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';

/** 32 hex digits from the system's random source, for one answer or submission. */
export function newNonce(): string {
  return bytesToHex(randomBytes(16));
}
