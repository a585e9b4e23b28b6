/**
 * One-time links: the operator makes one, and the page of the inbox signs with it. Pure, because the page runs it in a browser.
 *
 * The seed of the one-time key is in the fragment of the link, which browsers do not send: the gateway never receives it.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import type { Envelope } from '../policy/contracts/diff';
import { sha256Hex } from '../policy/contracts/hash';
import { fromBase64Url, toBase64Url } from '../policy/evidence/base64';
import { openEnvelope, toEnvelope } from '../policy/evidence/dsse';
import { passkeyKeyId } from '../policy/evidence/passkey-key';
import { statementOf } from '../policy/evidence/statement';
import { keyIdOf } from './key-id';

const FRAGMENT = '#enroll=';

/** The one-time key of a link. */
export interface OneTimeKey {
  /** 32 bytes: the private key of RFC 8032. */
  readonly seed: Uint8Array;
  readonly keyId: string;
  readonly publicKey: string;
}

export function newOneTimeKey(): OneTimeKey {
  return oneTimeKey(randomBytes(32));
}

function oneTimeKey(seed: Uint8Array): OneTimeKey {
  const publicKey = bytesToHex(ed25519.getPublicKey(seed));
  return { seed, publicKey, keyId: keyIdOf(publicKey) };
}

/** The link to give to the person. `gatewayUrl`: the public origin of the gateway. */
export function enrollmentLink(gatewayUrl: string, { seed }: OneTimeKey): string {
  return `${new URL('/inbox/', gatewayUrl).href}${FRAGMENT}${toBase64Url(seed)}`;
}

/** The one-time key in the fragment of a link (`location.hash`); null if it has none. */
export function oneTimeKeyOf(fragment: string): OneTimeKey | null {
  const seed = fragment.startsWith(FRAGMENT) ? fromBase64Url(fragment.slice(FRAGMENT.length)) : null;
  return seed?.length === 32 ? oneTimeKey(seed) : null;
}

/**
 * Signs which passkey was made with the link. `offer`: the operator's statement, whose signature is not verified here. Throws TypeError if
 * it is for another key.
 */
export function signPasskeyEnrollment(
  key: OneTimeKey,
  offer: Envelope,
  made: { readonly credentialId: string; readonly publicKey: string; readonly enrolledAt: string },
): Envelope {
  const opened = openEnvelope('enrollment', offer);
  if (!opened.ok || opened.statement.predicate.keyId !== key.keyId)
    throw new TypeError('The offer is not for the one-time key of this link');
  const { rpId } = opened.statement.predicate;
  const { credentialId, publicKey } = made;
  const statement = statementOf('passkey-enrollment', {
    enrollmentKeyId: key.keyId,
    enrollmentSha: sha256Hex(opened.signed),
    keyId: passkeyKeyId({ credentialId, publicKey, rpId }),
    ...made,
  });
  return toEnvelope(statement, key.keyId, (bytes) => ed25519.sign(bytes, key.seed));
}
