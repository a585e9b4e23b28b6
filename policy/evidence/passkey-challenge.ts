/**
 * The challenges that people sign with a passkey.
 *
 * H1 An answer's challenge is derived from the statements, never received: otherwise its sender could choose what is signed.
 * H2 A login's challenge is a typed hash of what the gateway sent, so that a gateway cannot send the challenge of an answer as that of a
 *    login. The two hashes have different inputs: an array, and an object with a `type`.
 */
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from '../contracts/canonical-json';
import { sha256Hex, sha256HexOfText, typedHash, type Sha256 } from '../contracts/hash';
import { pae, PAYLOAD_TYPE, toEnvelope } from './dsse';
import { statementText, type Statement } from './statement';
import type { Envelope } from '../contracts/diff';
import { toBase64 } from './base64';

/** SHA-256 of the pre-authentication encoding: what an assertion names a statement by. */
export function statementDigest(statement: Statement): Sha256 {
  return sha256Hex(pae(PAYLOAD_TYPE, utf8ToBytes(statementText(statement))));
}

/** The 32 bytes of the WebAuthn challenge by which a passkey signs these statements. */
export function passkeyChallenge(statements: readonly Sha256[]): Uint8Array {
  return hexToBytes(sha256HexOfText(canonicalJson([...statements])));
}

/** The 32 bytes of the WebAuthn challenge by which a passkey logs in. `nonce`: what the gateway sent, base64url. */
export function loginChallenge(nonce: string): Uint8Array {
  return hexToBytes(typedHash('login', { nonce }));
}

/** What an authenticator returns for the challenge of these statements. */
export interface AssertionBytes {
  readonly authenticatorData: Uint8Array;
  readonly clientDataJSON: Uint8Array;
  readonly signature: Uint8Array;
}

/** The envelopes of the statements that were signed in one touch, in order. `keyId`: id of the registered passkey. Not verified. */
export function passkeyEnvelopes(
  statements: readonly Statement[],
  keyId: string,
  { authenticatorData, clientDataJSON, signature }: AssertionBytes,
): readonly Envelope[] {
  const passkey = {
    statements: statements.map(statementDigest),
    authenticatorData: toBase64(authenticatorData),
    clientDataJSON: toBase64(clientDataJSON),
  };
  return statements.map((statement) => {
    const envelope = toEnvelope(statement, keyId, () => signature);
    return { ...envelope, signatures: envelope.signatures.map((only) => ({ ...only, passkey })) };
  });
}
