import { AUTHORIZATION_SCHEME, REQUEST_PAYLOAD_TYPE, REQUEST_WINDOW_MS, RequestClaim } from '../client/request-claim';
import { Envelope } from '../policy/contracts/diff';
import { fromBase64 } from '../policy/evidence/base64';
import { fieldIssues, issuesText } from '../policy/contracts/issues';
import { pae } from '../policy/evidence/dsse';
import type { KeyLookup, RegisteredKey } from '../policy/evidence/key-registry';
import { jsonOf } from '../policy/text/json-of';
import { decodeUtf8 } from '../policy/text/utf8';
import { verifyEd25519 } from '../signing/verify-signature';

const MAX_HEADER_LENGTH = 8 * 1024;

export type Authentication =
  | { readonly ok: true; readonly key: RegisteredKey; readonly claim: RequestClaim }
  | { readonly ok: false; readonly message: string };

/**
 * Verifies who sent a request. The caller checks body and nonce afterwards: a body is not read before its sender is known, and
 * a nonce of an unknown sender is not stored. Never throws.
 */
export function authenticate(
  request: { readonly method: string; readonly path: string; readonly header: string | undefined },
  find: KeyLookup,
  now: number,
): Authentication {
  const refuse = (message: string): Authentication => ({ ok: false, message });
  const parsed = parseHeader(request.header);
  if (typeof parsed === 'string') return refuse(parsed);
  const { envelope, payload, claim, signature, keyId } = parsed;
  const key = find(keyId);
  if (key === undefined)
    return refuse(`Key ${keyId} is not registered. An operator registers it with "countersign keys register"`);
  if ('passkey' in key) return refuse(`Key ${keyId} is a passkey, which cannot sign requests`);
  if (!verifyEd25519(key.publicKey, pae(envelope.payloadType, payload), signature))
    return refuse('The signature does not verify');
  if (key.keyId !== claim.keyId) return refuse('The claim names another key than the one that signed it');
  if (key.revokedAt !== null) return refuse(`Key ${keyId} was revoked`);
  if (claim.method !== request.method || claim.path !== request.path)
    return refuse(
      `The claim was signed for ${claim.method} ${claim.path}, but the gateway received ${request.method} ${request.path}`,
    );
  if (Math.abs(now - Date.parse(claim.issuedAt)) > REQUEST_WINDOW_MS)
    return refuse(
      `The claim was signed at ${claim.issuedAt}: expected within 5 minutes of ${new Date(now).toISOString()}. Check the clock`,
    );
  return { ok: true, key, claim };
}

interface SignedClaim {
  readonly envelope: Envelope;
  readonly payload: Uint8Array;
  readonly claim: RequestClaim;
  readonly signature: Uint8Array;
  readonly keyId: string;
}

/** The claim, not verified yet, or what is wrong with the header. */
function parseHeader(header: string | undefined): SignedClaim | string {
  if (header === undefined) return 'Expected the header "Authorization: Countersign <base64 of a signed envelope>"';
  if (!header.startsWith(AUTHORIZATION_SCHEME)) return 'Expected the authorization scheme "Countersign"';
  if (header.length > MAX_HEADER_LENGTH) return `Expected at most ${MAX_HEADER_LENGTH} bytes of authorization`;
  const envelope = Envelope.safeParse(jsonOfBytes(fromBase64(header.slice(AUTHORIZATION_SCHEME.length))));
  if (!envelope.success) return 'The authorization is not a DSSE envelope in base64';
  const [only, ...more] = envelope.data.signatures;
  if (only === undefined || more.length > 0) return 'Expected exactly one signature';
  if (envelope.data.payloadType !== REQUEST_PAYLOAD_TYPE) return `Expected payloadType ${REQUEST_PAYLOAD_TYPE}`;
  const payload = fromBase64(envelope.data.payload);
  const signature = fromBase64(only.sig);
  if (payload === null || signature === null) return 'Expected claim and signature in base64';
  const said = jsonOfBytes(payload);
  const claim = RequestClaim.safeParse(said);
  if (!claim.success) return `Invalid claim: ${issuesText(fieldIssues(claim.error, said, 'claim').slice(0, 10))}`;
  return { envelope: envelope.data, payload, claim: claim.data, signature, keyId: only.keyid };
}

function jsonOfBytes(bytes: Uint8Array | null): unknown {
  const text = bytes === null ? null : decodeUtf8(bytes);
  return text === null ? undefined : jsonOf(text);
}
