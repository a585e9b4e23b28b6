/**
 * How a request to the gateway says who sends it: header `Authorization: Countersign <base64 of a DSSE envelope>`, signed with the
 * sender's own key over method, path with query, digest of the body, time and a nonce. No bearer token: what is seen on the way
 * cannot be used for another request, nor twice.
 */
import { verify } from 'node:crypto';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { canonicalJson } from '../policy/contracts/canonical-json';
import { Envelope, Sha256Hex } from '../policy/contracts/diff';
import { fromBase64, toBase64 } from '../policy/evidence/base64';
import { pae } from '../policy/evidence/dsse';
import { KeyId } from '../policy/evidence/predicates';
import type { RegisteredKey } from '../policy/evidence/key-registry';
import { newNonce, toPublicKeyObject } from '../signing/keys';
import type { Signer } from './signer';

const SCHEME = 'Countersign ';
const MAX_HEADER = 8 * 1024;
/** Unlike a statement's type, so that no signed request can pass for an answer, nor an answer for a request. */
export const REQUEST_PAYLOAD_TYPE = 'application/vnd.countersign.request+json';
/** A request is good for this long around its time of issue. */
export const REQUEST_WINDOW_MS = 5 * 60 * 1000;

export const RequestClaim = z.strictObject({
  method: z.string().max(10),
  /** Path with query, exactly as requested. */
  path: z.string().max(2000),
  bodySha256: Sha256Hex,
  issuedAt: z.iso.datetime(),
  nonce: z.string().min(16).max(100),
  keyId: KeyId,
});
export type RequestClaim = z.infer<typeof RequestClaim>;

/** The header's value for one request. */
export function authorize(
  request: Pick<RequestClaim, 'method' | 'path' | 'bodySha256'>,
  signer: Signer,
  now: Date,
): string {
  const claim: RequestClaim = { ...request, issuedAt: now.toISOString(), nonce: newNonce(), keyId: signer.keyId };
  const envelope = signer.signText(REQUEST_PAYLOAD_TYPE, canonicalJson(claim));
  return SCHEME + toBase64(utf8ToBytes(JSON.stringify(envelope)));
}

export type Authenticated =
  | { readonly ok: true; readonly key: RegisteredKey; readonly claim: RequestClaim }
  | { readonly ok: false; readonly message: string };

/**
 * Who sends this request. Body and nonce are the caller's to check next: the body is not read before its sender is known, and no
 * nonce is remembered for a stranger. Never throws on what the header holds; `find` may throw.
 */
export async function authenticate(
  request: { readonly method: string; readonly path: string; readonly header: string | undefined },
  find: (keyId: string) => Promise<RegisteredKey | null>,
  now: number,
): Promise<Authenticated> {
  const no = (message: string): Authenticated => ({ ok: false, message });
  const read = readHeader(request.header);
  if (typeof read === 'string') return no(read);
  const { envelope, payload, claim, signature, keyId } = read;
  const key = await find(keyId);
  if (key === null) return no(`Key ${keyId} is not registered`);
  if (!verify(null, pae(envelope.payloadType, payload), toPublicKeyObject(key.publicKey), signature))
    return no('The signature does not verify');
  if (key.keyId !== claim.keyId) return no('The claim names another key than the one that signed it');
  if (key.revokedAt !== null) return no(`Key ${keyId} was revoked`);
  if (claim.method !== request.method || claim.path !== request.path)
    return no('The claim was signed for another request');
  if (Math.abs(now - Date.parse(claim.issuedAt)) > REQUEST_WINDOW_MS)
    return no(
      `The claim was signed at ${claim.issuedAt}: expected within 5 minutes of ${new Date(now).toISOString()}. Check the clock`,
    );
  return { ok: true, key, claim };
}

function readHeader(
  header: string | undefined,
): string | { envelope: Envelope; payload: Uint8Array; claim: RequestClaim; signature: Uint8Array; keyId: string } {
  if (header === undefined) return 'Expected the header "Authorization: Countersign <base64 of a signed envelope>"';
  if (!header.startsWith(SCHEME)) return 'Expected the authorization scheme "Countersign"';
  if (header.length > MAX_HEADER) return `Expected at most ${MAX_HEADER} bytes of authorization`;
  const envelope = Envelope.safeParse(jsonOf(fromBase64(header.slice(SCHEME.length))));
  if (!envelope.success) return 'The authorization is not a DSSE envelope in base64';
  const [only, ...more] = envelope.data.signatures;
  if (only === undefined || more.length > 0) return 'Expected exactly one signature';
  if (envelope.data.payloadType !== REQUEST_PAYLOAD_TYPE) return `Expected payloadType ${REQUEST_PAYLOAD_TYPE}`;
  const payload = fromBase64(envelope.data.payload);
  const signature = fromBase64(only.sig);
  const claim = RequestClaim.safeParse(jsonOf(payload));
  if (payload === null || signature === null || !claim.success)
    return 'The claim cannot be read: expected method, path, bodySha256, issuedAt, nonce and keyId';
  return { envelope: envelope.data, payload, claim: claim.data, signature, keyId: only.keyid };
}

function jsonOf(bytes: Uint8Array | null): unknown {
  if (bytes === null) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined; // Not UTF-8 or not JSON: the schema refuses undefined.
  }
}
