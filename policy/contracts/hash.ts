import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson, type JsonValue } from './canonical-json';

/** SHA-256 as 64 lower-case hex digits. */
export type Sha256 = string;

/** Every hash that Countersign defines, by the name in its `type` member. */
export type HashName =
  | 'input'
  | 'content'
  | 'facts'
  | 'change'
  | 'staging'
  | 'preview'
  | 'logic'
  | 'plan'
  | 'findings'
  | 'explanation'
  | 'violations'
  | 'callback-results'
  | 'violation'
  | 'fingerprint'
  | 'attested-input'
  | 'ledger'
  | 'key'
  | 'login';

type NodeCrypto = typeof import('node:crypto');

/** Node's SHA-256 takes a fifth of the time. The sandbox of workflows and browsers do not have the module, and use the other implementation. */
const crypto: NodeCrypto | null =
  typeof process === 'object' && typeof process.getBuiltinModule === 'function'
    ? (process.getBuiltinModule('node:crypto') ?? null)
    : null;

export function sha256Hex(bytes: Uint8Array): Sha256 {
  return crypto === null ? bytesToHex(sha256(bytes)) : crypto.hash('sha256', bytes, 'hex');
}

export function sha256HexOfText(text: string): Sha256 {
  if (crypto === null) return sha256Hex(utf8ToBytes(text));
  return crypto.hash('sha256', text, 'hex');
}

/**
 * SHA-256 over the canonical JSON of `{"type": "countersign/<name>/v1", …members}`.
 * The member `type` separates the domains: hashes of different kinds never collide. Throws TypeError if a member is not
 * canonical JSON or is itself named `type`.
 */
export function typedHash(name: HashName, members: { readonly [key: string]: JsonValue } | object): Sha256 {
  if (Object.hasOwn(members, 'type')) throw new TypeError(`Hash ${name}: the member "type" is taken`);
  return sha256HexOfText(canonicalJson({ ...members, type: `countersign/${name}/v1` }));
}
