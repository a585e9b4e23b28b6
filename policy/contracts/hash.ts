import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson, type JsonValue } from './canonical-json';

/** Lower-case hex SHA-256: 64 characters. */
export type Sha256 = string;

/** Every hash that Countersign defines, by the name in its `type` member (records.md §1). */
export type HashName =
  | 'input'
  | 'change'
  | 'staging'
  | 'logic'
  | 'plan'
  | 'findings'
  | 'callback-results'
  | 'violation'
  | 'fingerprint'
  | 'attested-input'
  | 'ledger'
  | 'bundle'
  | 'key';

export function sha256Hex(bytes: Uint8Array): Sha256 {
  return bytesToHex(sha256(bytes));
}

export function sha256HexOfText(text: string): Sha256 {
  return sha256Hex(utf8ToBytes(text));
}

/**
 * SHA-256 over the canonical JSON of `{"type": "countersign/<name>/v1", …members}`.
 * The type member keeps a hash of one kind from standing in for another. Throws on what canonical JSON refuses,
 * and on a member of that name.
 */
export function typedHash(name: HashName, members: { readonly [key: string]: JsonValue } | object): Sha256 {
  if (Object.hasOwn(members, 'type')) throw new TypeError(`Hash ${name}: the member "type" is taken`);
  return sha256HexOfText(canonicalJson({ ...members, type: `countersign/${name}/v1` }));
}
