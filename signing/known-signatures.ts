import { bytesToHex } from '@noble/hashes/utils.js';
import { sha256Hex } from '../policy/contracts/hash';
import { RecentValues } from '../policy/text/recent-values';

/** About 1 MB. A review has about a dozen signatures, and each process verifies them several times. */
const valid = new RecentValues<true>({ entries: 4096, length: 1024 * 1024 });

/**
 * Whether `verify` accepts the signature of the message by this key. It is called once for each valid signature: whether a key made a
 * signature depends on the three of them only, and never changes. Whether the key is trusted, or was revoked, is not decided here.
 * `key`: its only encoding.
 */
export function isValidSignature(
  key: string,
  message: Uint8Array,
  signature: Uint8Array,
  verify: () => boolean,
): boolean {
  // Unambiguous, because the two last parts contain no space.
  const text = `${key} ${bytesToHex(signature)} ${sha256Hex(message)}`;
  if (valid.get(text) === true) return true;
  if (!verify()) return false;
  valid.set(text, true);
  return true;
}
