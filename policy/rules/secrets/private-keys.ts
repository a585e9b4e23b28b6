import { isTokenUnit } from './characters';
import { isFiller } from './placeholders';
import type { SecretSpan } from './secret-span';

/**
 * Starts of the base64 of private keys: a DER sequence with the version of a private key, with a length of two bytes, of one byte
 * and below 128, and an OpenSSH key. A certificate or a public key has no version there.
 */
const STARTS = [
  'MII[A-Za-z0-9+/]{2}[AQgw]IB(?:ADA|AAK)',
  'MI[GH][A-Za-z0-9+/]AgE[AB][ABM]',
  'M[A-H][A-Za-z0-9+/]CAQ(?:Aw|EE)',
  'b3BlbnNzaC1rZXktdjE',
];
/** A run of base64 and the lines after it, as in a file or as the added lines of a patch. */
const BASE64_LINES = String.raw`[A-Za-z0-9+/]{24,}={0,2}(?:(?:\r?\n|\\n)[+ -]?[ \t]{0,40}[A-Za-z0-9+/]{16,}={0,2})*`;
/** Keys without PEM markers, and the private part of a PuTTY key. */
const UNMARKED = new RegExp(
  String.raw`(?:(?:^\+?|[^A-Za-z0-9+/]|\\n)(?=${STARTS.join('|')})|Private-Lines: {0,4}\d{1,3}(?:\r?\n|\\n)[+ -]?[ \t]{0,40})(${BASE64_LINES})`,
  'gm',
);
/** The private member of a JSON Web Key: `d`, or `k` of a symmetric key. Searched near `kty`, which every such key has. */
const JWK_MEMBER = /(?:^|[^\w$])[dk]\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["']?([A-Za-z0-9_-]{40,})/g;
const JWK_AROUND = 6000;

/** Private keys without PEM markers. Linear time. */
export function unmarkedKeys(text: string): SecretSpan[] {
  const spans: SecretSpan[] = [];
  for (const { 0: found, 1: key = '', index } of text.matchAll(UNMARKED)) {
    const end = index + found.length;
    if (!isFiller(key.slice(0, 200))) spans.push({ kind: 'private_key', start: end - key.length, end });
  }
  let done = 0;
  for (let at = text.indexOf('kty'); at !== -1; at = text.indexOf('kty', at + 3)) {
    const from = Math.max(done, at - JWK_AROUND);
    done = at + JWK_AROUND;
    for (const { 0: found, 1: value = '', index } of text.slice(from, done).matchAll(JWK_MEMBER)) {
      const end = from + index + found.length;
      spans.push({ kind: 'private_key', start: end - value.length, end });
    }
  }
  return spans;
}

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const MAX_KEY = 32 * 1024;
/** Number of base64 characters of the shortest private key: Ed25519 in PKCS #8. */
const MIN_KEY = 60;

/** PEM private keys: from the begin marker to the end marker or, without one, to the end of the base64 text. Linear time. */
export function privateKeys(text: string): SecretSpan[] {
  const spans: SecretSpan[] = [];
  let nextEnd = -Infinity;
  for (let start = text.indexOf(BEGIN); start !== -1; start = text.indexOf(BEGIN, start + 1)) {
    if (!text.slice(start, start + 80).includes('PRIVATE KEY')) continue;
    const body = text.slice(start, start + MAX_KEY);
    // One search serves all begin markers before the result, which keeps the time linear.
    if (nextEnd !== -1 && nextEnd < start) nextEnd = text.indexOf(END, start);
    const marker = nextEnd === -1 || nextEnd - start + END.length > body.length ? -1 : nextEnd - start;
    const length = marker === -1 ? endOfBase64(body) : afterDashes(body, marker);
    spans.push({ kind: 'private_key', start, end: start + length });
    start += length - 1;
  }
  return spans;
}

/** True if there is a key between the markers, not a placeholder. */
export function containsKey(text: string, { start, end }: SecretSpan): boolean {
  const from = text.indexOf('KEY', start);
  const body = text.slice(from === -1 ? start : from, end);
  const stop = body.indexOf(END);
  let letters = 0;
  const inner = body.slice(3, stop === -1 ? body.length : stop);
  for (let i = 0; i < inner.length; i++) if (isTokenUnit(inner.charCodeAt(i))) letters++;
  return letters >= MIN_KEY && !isFiller(inner.slice(0, 200).replaceAll('-', ''));
}

function afterDashes(body: string, marker: number): number {
  const dashes = body.indexOf('-----', marker + END.length);
  return dashes === -1 ? Math.min(body.length, marker + 80) : dashes + 5;
}

function endOfBase64(body: string): number {
  let i = BEGIN.length;
  while (i < body.length && (isTokenUnit(body.charCodeAt(i)) || ' \r\n\t+/=:,\\'.includes(body[i] as string))) i++;
  return i;
}
