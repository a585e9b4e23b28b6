import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Envelope } from '../../policy/contracts/diff';
import { toBase64Url } from '../../policy/evidence/base64';
import type { RegisteredPasskey } from '../../policy/evidence/key-registry';
import {
  passkeyChallenge,
  statementDigest,
  passkeyEnvelopes,
  type AssertionBytes,
} from '../../policy/evidence/passkey-challenge';
import { passkeyKeyId, type PasskeyAlgorithm, type PasskeyKey } from '../../policy/evidence/passkey-key';
import type { Statement } from '../../policy/evidence/statement';
import { TEST_TIME } from './keys';

export const RP_ID = 'countersign.example';
export const ORIGIN = 'https://countersign.example';

/** What an authenticator and its browser say in one touch. Each can be set to what an attacker would set it to. */
export interface Touch {
  readonly flags?: number;
  readonly counter?: number;
  readonly rpId?: string;
  readonly challenge?: Uint8Array;
  /** Replaces members of clientDataJSON. */
  readonly clientData?: object;
  /** Replaces the complete text. */
  readonly clientDataText?: (text: string) => string;
  /** Appended to authenticatorData. */
  readonly extensions?: Uint8Array;
}

export const USER_PRESENT = 0x01;
export const USER_VERIFIED = 0x04;

/** A passkey of a person, with the registry entry that its enrolment would give. The private key is derived from the seed. */
export interface TestPasskey {
  readonly keyId: string;
  readonly key: PasskeyKey;
  readonly entry: RegisteredPasskey;
  /** Answers a challenge, as `navigator.credentials.get` does. */
  readonly assert: (challenge: Uint8Array, touch?: Touch) => AssertionBytes;
  /** Signs statements in one touch. */
  readonly sign: (statements: readonly Statement[], touch?: Touch) => readonly Envelope[];
}

export function testPasskey(
  person: string,
  {
    algorithm = 'ES256',
    seed = person,
    ...more
  }: { readonly algorithm?: PasskeyAlgorithm; readonly seed?: string } & Partial<RegisteredPasskey> = {},
): TestPasskey {
  const secret = createHash('sha256').update(`countersign test passkey: ${algorithm} ${seed}`).digest();
  const key: PasskeyKey = {
    credentialId: toBase64Url(sha256(secret)),
    publicKey: coseKey(algorithm, secret),
    rpId: RP_ID,
    origins: [ORIGIN],
  };
  const keyId = passkeyKeyId(key);
  const assert: TestPasskey['assert'] = (challenge, touch = {}) => {
    const authenticatorData = authenticatorDataOf(touch);
    const clientDataJSON = utf8ToBytes(clientDataOf(challenge, touch));
    const signed = concatBytes(authenticatorData, sha256(clientDataJSON));
    const signature =
      algorithm === 'ES256' ? p256.sign(signed, secret, { format: 'der', lowS: false }) : ed25519.sign(signed, secret);
    return { authenticatorData, clientDataJSON, signature };
  };
  const entry: RegisteredPasskey = {
    keyId,
    passkey: key,
    enrollmentKeyId: 'e'.repeat(64),
    kind: 'approver',
    subject: { type: 'person', id: person },
    onBehalfOf: null,
    tenants: ['*'],
    rights: ['read', 'answer'],
    demo: false,
    addedAt: TEST_TIME,
    operatorKeyId: '0'.repeat(64),
    revokedAt: null,
    ...more,
  };
  return {
    keyId,
    key,
    entry,
    assert,
    sign: (statements, touch) =>
      passkeyEnvelopes(statements, keyId, assert(passkeyChallenge(statements.map(statementDigest)), touch)),
  };
}

function coseKey(algorithm: PasskeyAlgorithm, secret: Uint8Array): string {
  if (algorithm === 'EdDSA') return `a4010103272006215820${bytesToHex(ed25519.getPublicKey(secret))}`;
  const point = bytesToHex(p256.getPublicKey(secret, false).slice(1));
  return `a5010203262001215820${point.slice(0, 64)}225820${point.slice(64)}`;
}

function authenticatorDataOf({ rpId = RP_ID, flags = USER_PRESENT | USER_VERIFIED, counter = 0, ...more }: Touch) {
  const fixed = new Uint8Array(5);
  fixed[0] = flags;
  new DataView(fixed.buffer).setUint32(1, counter);
  return concatBytes(sha256(utf8ToBytes(rpId)), fixed, more.extensions ?? new Uint8Array(0));
}

function clientDataOf(challenge: Uint8Array, touch: Touch): string {
  const members = {
    type: 'webauthn.get',
    challenge: toBase64Url(touch.challenge ?? challenge),
    origin: ORIGIN,
    crossOrigin: false,
    ...touch.clientData,
  };
  const text = JSON.stringify(members);
  return touch.clientDataText?.(text) ?? text;
}
