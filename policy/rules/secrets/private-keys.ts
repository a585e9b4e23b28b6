import { isTokenUnit } from './characters';
import { isFiller } from './placeholders';
import type { SecretSpan } from './secret-span';

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
