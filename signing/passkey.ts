/**
 * Verifies what a passkey signed: a WebAuthn assertion (Web Authentication Level 2, §7.2) over statements of ours. Pure; also runs in a
 * browser.
 *
 * Q1 Public key, relying party and origins come from the registry, never from the envelope.
 * Q2 The challenge is computed from the digests of the statements, and the statement of this envelope must be one of them.
 * Q3 The person must have been verified, not only present: possession of an unlocked device is not enough.
 * Q4 A passkey signs what approvers sign, and nothing else.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { isJsonObject } from '../policy/contracts/canonical-json';
import type { PasskeyAssertion } from '../policy/contracts/diff';
import { sha256Hex, type Sha256 } from '../policy/contracts/hash';
import { fromBase64, toBase64Url } from '../policy/evidence/base64';
import { passkeyChallenge } from '../policy/evidence/passkey-challenge';
import { passkeyPoint, type PasskeyKey } from '../policy/evidence/passkey-key';
import type { StatementKind } from '../policy/evidence/statement';
import { readJsonDocument } from '../policy/text/json-document';
import { publicKeyProblem, es256PointProblem } from './curve-points';
import { isValidSignature } from './known-signatures';
import { verifyEd25519, verifyEs256 } from './verify-signature';

/** Kinds of statements that a passkey can sign. */
export const PASSKEY_KINDS: ReadonlySet<StatementKind> = new Set(['answer', 'withdraw']);

/** What the ledger compares with earlier assertions of the same passkey. */
export interface PasskeyUse {
  /** 0 if the authenticator does not count. */
  readonly counter: number;
  /** SHA-256 of the bytes that the authenticator signed: the same for all statements of one touch. */
  readonly assertionSha: Sha256;
}

type PasskeyVerified =
  { readonly ok: true; readonly use: PasskeyUse } | { readonly ok: false; readonly problem: string };

/** Any assertion of a passkey. */
export interface Assertion {
  readonly authenticatorData: Uint8Array;
  readonly clientDataJSON: Uint8Array;
  readonly signature: Uint8Array;
}

const FLAGS = { userPresent: 0x01, userVerified: 0x04, attestedData: 0x40, extensions: 0x80 } as const;
/** rpIdHash, flags, counter. */
const FIXED_BYTES = 37;
const CLIENT_DATA = { maxBytes: 4096, maxDepth: 4, maxEntries: 64 };

/** Whether the passkey signed the statement whose pre-authentication encoding is `signed`. Never throws. */
export function verifyPasskey(
  { signed, signature, passkey }: { signed: Uint8Array; signature: Uint8Array; passkey: PasskeyAssertion },
  key: PasskeyKey,
): PasskeyVerified {
  const refuse = (problem: string): PasskeyVerified => ({ ok: false, problem });
  if (!passkey.statements.includes(sha256Hex(signed))) return refuse('the assertion is for other statements');
  const authenticatorData = fromBase64(passkey.authenticatorData);
  const clientDataJSON = fromBase64(passkey.clientDataJSON);
  if (authenticatorData === null || clientDataJSON === null) return refuse('the assertion is not strict base64');
  return verifyAssertion({ authenticatorData, clientDataJSON, signature }, key, passkeyChallenge(passkey.statements));
}

/** Whether the passkey answered this challenge, on one of its pages and with the person verified. Never throws. */
export function verifyAssertion(
  { authenticatorData, clientDataJSON, signature }: Assertion,
  key: PasskeyKey,
  challenge: Uint8Array,
): PasskeyVerified {
  const problem =
    clientDataProblem(clientDataJSON, key.origins, challenge) ?? authenticatorProblem(authenticatorData, key.rpId);
  if (problem !== null) return { ok: false, problem };
  const signed = concatBytes(authenticatorData, sha256(clientDataJSON));
  const { publicKey } = key;
  if (!isValidSignature(publicKey, signed, signature, () => isSignedBy(publicKey, signed, signature)))
    return { ok: false, problem: 'the signature is not valid' };
  const counter = new DataView(authenticatorData.buffer, authenticatorData.byteOffset).getUint32(33);
  return { ok: true, use: { counter, assertionSha: sha256Hex(signed) } };
}

/** Null if the COSE key may be registered: its point is on the curve, and not of small order. */
export function passkeyKeyProblem(cose: string): string | null {
  const found = passkeyPoint(cose);
  if (found === null) return 'not a COSE key of ES256 or EdDSA';
  return found.algorithm === 'EdDSA' ? publicKeyProblem(found.point) : es256PointProblem(found.point);
}

function clientDataProblem(bytes: Uint8Array, origins: readonly string[], challenge: Uint8Array): string | null {
  const read = readJsonDocument(bytes, CLIENT_DATA);
  if (!read.ok) return `clientDataJSON: ${read.message}`;
  if (!isJsonObject(read.value)) return 'clientDataJSON is not an object';
  const { type, challenge: given, origin, crossOrigin = false, topOrigin } = read.value;
  if (type !== 'webauthn.get') return 'clientDataJSON is not of the type webauthn.get';
  if (given !== toBase64Url(challenge)) return 'the challenge is another one';
  if (typeof origin !== 'string' || !origins.includes(origin)) return 'the origin is not one of the passkey';
  if (crossOrigin !== false || topOrigin !== undefined) return 'the page was embedded in a page of another origin';
  return null;
}

function authenticatorProblem(data: Uint8Array, rpId: string): string | null {
  if (data.length < FIXED_BYTES || data.length > 1024) return 'authenticatorData has a wrong length';
  const rpIdHash = sha256(utf8ToBytes(rpId));
  if (!rpIdHash.every((byte, i) => data[i] === byte)) return 'the relying party is another one';
  const flags = data[32] ?? 0;
  if ((flags & FLAGS.userPresent) === 0) return 'the authenticator was not touched';
  if ((flags & FLAGS.userVerified) === 0) return 'the authenticator did not verify the person';
  if ((flags & FLAGS.attestedData) !== 0) return 'authenticatorData is of a registration';
  if ((flags & FLAGS.extensions) === 0 && data.length !== FIXED_BYTES) return 'authenticatorData has a wrong length';
  return null;
}

function isSignedBy(cose: string, message: Uint8Array, signature: Uint8Array): boolean {
  const found = passkeyPoint(cose);
  if (found === null || passkeyKeyProblem(cose) !== null) return false;
  return found.algorithm === 'ES256'
    ? verifyEs256(found.point, message, signature)
    : verifyEd25519(bytesToHex(found.point), message, signature);
}
