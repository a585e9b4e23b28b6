/**
 * How a request to the gateway proves its sender: the header `Authorization: Countersign <base64 of a DSSE envelope>`, signed
 * with the sender's key over method, path with query, digest of the body, time and a nonce. It is not a bearer token: a
 * header that is intercepted cannot be used for another request, or twice.
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { canonicalJson } from '../policy/contracts/canonical-json';
import { Sha256Hex } from '../policy/contracts/diff';
import { toBase64 } from '../policy/evidence/base64';
import { KeyId } from '../policy/evidence/predicates';
import { newNonce } from '../signing/nonce';
import type { Signer } from './signer';

export const AUTHORIZATION_SCHEME = 'Countersign ';
/** Differs from the type of statements, so that a signed request cannot be used as an answer, nor an answer as a request. */
export const REQUEST_PAYLOAD_TYPE = 'application/vnd.countersign.request+json';
/** A claim is valid for this long before and after its time of issue. */
export const REQUEST_WINDOW_MS = 5 * 60 * 1000;

export const RequestClaim = z.strictObject({
  method: z.string().max(10),
  /** Path with query, exactly as the gateway receives it. */
  path: z.string().max(2000),
  bodySha256: Sha256Hex,
  issuedAt: z.iso.datetime('expected a time in UTC such as 2026-11-21T10:00:00.000Z'),
  nonce: z.string().min(16).max(100),
  keyId: KeyId,
});
export type RequestClaim = z.infer<typeof RequestClaim>;

/** The value of the Authorization header for one request. */
export function authorizationHeader(
  request: Pick<RequestClaim, 'method' | 'path' | 'bodySha256'>,
  signer: Signer,
  now: Date,
): string {
  const claim: RequestClaim = { ...request, issuedAt: now.toISOString(), nonce: newNonce(), keyId: signer.keyId };
  const envelope = signer.signText(REQUEST_PAYLOAD_TYPE, canonicalJson(claim));
  return AUTHORIZATION_SCHEME + toBase64(utf8ToBytes(JSON.stringify(envelope)));
}
