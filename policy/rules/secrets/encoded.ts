import { asStaged, ViewBuilder, type TextView } from '../../text/text-view';
import { isQuote, isWord } from './characters';

/** A decoded text and the span of its encoded form. */
interface DecodedText {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const MIN_RUN = 32;
const MAX_RUN = 256 * 1024;

/**
 * Runs of base64 or hexadecimal digits that decode to readable text. Linear time: each run is decoded once. Outside runs only
 * every 32nd unit is read, because shorter runs are ignored.
 */
export function encodedTexts(text: string): DecodedText[] {
  const found: DecodedText[] = [];
  let from = 0;
  while (from + MIN_RUN <= text.length) {
    let start = from + MIN_RUN;
    while (start > from && isBase64(text.charCodeAt(start - 1))) start--;
    if (start > from) {
      from = start;
      continue;
    }
    let end = from + MIN_RUN;
    while (end < text.length && isBase64(text.charCodeAt(end))) end++;
    from = end;
    while (text[from] === '=' && from - end < 2) from++;
    if (end - start > MAX_RUN) continue;
    const run = text.slice(start, end);
    const decoded = readable(isHex(run) ? fromHex(run) : fromBase64(run));
    if (decoded !== null) found.push({ text: decoded, start, end: from });
  }
  return found;
}

/** Both alphabets: with `+` and `/`, and with `-` and `_`. */
function isBase64(code: number): boolean {
  return isWord(code) || code === 0x2b || code === 0x2f || code === 0x2d;
}

function isHex(run: string): boolean {
  if (run.length % 2 !== 0) return false;
  for (let i = 0; i < run.length; i++) if (hexDigit(run.charCodeAt(i)) === -1) return false;
  return true;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x61 && code <= 0x66) return code - 0x57;
  return code >= 0x41 && code <= 0x46 ? code - 0x37 : -1;
}

function fromHex(run: string): Uint8Array {
  const bytes = new Uint8Array(run.length / 2);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = hexDigit(run.charCodeAt(2 * i)) * 16 + hexDigit(run.charCodeAt(2 * i + 1));
  return bytes;
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Uint8Array(128);
for (let i = 0; i < LETTERS.length; i++) VALUES[LETTERS.charCodeAt(i)] = i;
VALUES['-'.charCodeAt(0)] = 62;
VALUES['_'.charCodeAt(0)] = 63;

/** Not `@scure/base`, which takes three times as long, and refuses a mix of both alphabets and stray bits at the end. */
function fromBase64(run: string): Uint8Array {
  const bytes = new Uint8Array(Math.floor((run.length * 6) / 8));
  let [bits, count, at] = [0, 0, 0];
  for (let i = 0; i < run.length; i++) {
    bits = (bits << 6) | (VALUES[run.charCodeAt(i)] as number);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes[at++] = (bits >> count) & 0xff;
      bits &= (1 << count) - 1;
    }
  }
  return bytes;
}

/** The text that base64 decodes to; null if it is not readable. */
export function decodedBase64(run: string): string | null {
  return readable(fromBase64(run));
}

/** The bytes as text if all are printable ASCII or white space, else null. */
function readable(bytes: Uint8Array): string | null {
  let text = '';
  for (const byte of bytes) {
    const isText = (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09;
    if (!isText) return null;
    text += String.fromCharCode(byte);
  }
  return text;
}

/** Maximum length of the text between two concatenated literals. */
const MAX_JOINT = 40;

/**
 * The text with concatenated string literals joined: `'AK' + 'IA'`, `"a" . "b"`, `'a' || 'b'`, `"a"'b'`, and a line
 * break after a backslash. Null if the text has no such literals.
 */
export function joinedLiterals(text: string): TextView | null {
  const view = new ViewBuilder(asStaged(text));
  let start = 0;
  const quotes = new Quotes(text);
  for (let i = quotes.next(0); i !== -1; i = quotes.next(i + 1)) {
    const end = endOfJoint(text, i);
    if (end === null) continue;
    view.push(text.slice(start, i), start);
    start = end;
    i = end - 1;
  }
  if (start === 0) return null;
  view.push(text.slice(start), start);
  return view.build();
}

/** Finds quotes of the three kinds with `indexOf`, which skips other text many times faster than a loop. */
class Quotes {
  private readonly at = [-1, -1, -1];

  constructor(private readonly text: string) {}

  /** The first quote at or after `from`, or -1. `from` must not decrease between calls. */
  next(from: number): number {
    let first = this.text.length;
    for (let kind = 0; kind < QUOTES.length; kind++) {
      if ((this.at[kind] as number) < from) {
        const place = this.text.indexOf(QUOTES[kind] as string, from);
        this.at[kind] = place === -1 ? this.text.length : place;
      }
      first = Math.min(first, this.at[kind] as number);
    }
    return first === this.text.length ? -1 : first;
  }
}

const QUOTES = ["'", '"', '`'];

/** Start of the next concatenated literal's text after the closing quote, or null if there is none. */
function endOfJoint(text: string, quote: number): number | null {
  const last = Math.min(text.length, quote + MAX_JOINT);
  let operators = 0;
  for (let i = quote + 1; i < last; i++) {
    const code = text.charCodeAt(i);
    if (isQuote(text[i])) return i + 1;
    if (code === 0x2b || code === 0x2e || code === 0x7c || code === 0x26) operators++;
    else if (!isJointSpace(code)) return null;
    if (operators > 2) return null;
  }
  return null;
}

/** White space, or the backslash before a line break. */
function isJointSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09 || code === 0x5c;
}
