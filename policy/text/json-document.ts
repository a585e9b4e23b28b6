import type { JsonValue } from '../contracts/canonical-json';
import { closingQuote } from './json-string';
import { readJsonAt, skipSpace } from './json-text';
import type { FactsRefusal, Span } from '../contracts/facts';
import { inexactNumberAt } from './exact-number';
import { decodeUtf8 } from './utf8';
import { refusal } from './refusal';

interface JsonBounds {
  readonly maxBytes: number;
  readonly maxDepth: number;
  /** Bound on members and items in the complete document. */
  readonly maxEntries: number;
}

type JsonDocument =
  | { readonly ok: true; readonly value: JsonValue; readonly text: string; readonly inexactAt: number | null }
  | FactsRefusal;

const UTF16: readonly (readonly [number, number])[] = [
  [0xff, 0xfe],
  [0xfe, 0xff],
];

/**
 * Reads untrusted bytes as one JSON value: strict UTF-8, no duplicate keys, bounded by bytes, depth and entries. Objects have
 * no prototype, so keys like `__proto__` are ordinary. Refusal codes: empty, too_large, utf16, invalid_utf8, nul_byte,
 * syntax_error, duplicate_key, too_deep, lone_surrogate, inexact_number, too_many_entries.
 */
export function readJsonDocument(raw: Uint8Array, bounds: JsonBounds): JsonDocument {
  if (raw.length === 0) return refusal('empty', 'The document is empty', null);
  if (raw.length > bounds.maxBytes)
    return refusal('too_large', `The document is larger than ${bounds.maxBytes} bytes`, null);
  if (UTF16.some(([a, b]) => raw[0] === a && raw[1] === b))
    return refusal('utf16', 'The document is UTF-16; encode it as UTF-8', null);
  const decoded = decodeUtf8(raw);
  if (decoded === null) return refusal('invalid_utf8', 'The document is not valid UTF-8', null);
  const nul = decoded.indexOf('\0');
  if (nul !== -1) return refusal('nul_byte', 'The document contains a NUL byte', spanAt(decoded, nul));
  // RFC 8259 allows a parser to ignore a byte order mark.
  const text = decoded.startsWith('\ufeff') ? decoded.slice(1) : decoded;
  // A generous budget, because it is meant for repeated attempts, and this text is read once. Dense arrays take several steps per character.
  const read = readJsonAt(text, skipSpace(text, 0), bounds.maxDepth, { steps: text.length * 8 + 64 });
  const end = read.ok ? skipSpace(text, read.end) : 0;
  if (!read.ok || end !== text.length) {
    const { reason, at } = read.ok ? { reason: 'syntax' as const, at: end } : read;
    const known = reason === 'duplicate_key' || reason === 'too_deep' || reason === 'lone_surrogate';
    const code = known ? reason : reason === 'number_range' ? 'inexact_number' : 'syntax_error';
    return refusal(code, `Invalid JSON: ${reason.replaceAll('_', ' ')}`, spanAt(text, at));
  }
  if (hasMoreEntries(text, bounds.maxEntries))
    return refusal('too_many_entries', `The document has more than ${bounds.maxEntries} members and items`, null);
  return { ok: true, value: read.value as JsonValue, text, inexactAt: inexactNumberAt(text) };
}

/**
 * Counts entries in valid JSON text: one for each comma outside strings and for each opening bracket of a container that is not
 * empty. Walking the parsed objects is fifty times slower for a hundred thousand members.
 */
function hasMoreEntries(text: string, most: number): boolean {
  let entries = 0;
  for (let i = 0; i < text.length && entries <= most; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = closingQuote(text, i + 1);
      if (i === -1) break;
    } else if (code === COMMA) entries++;
    else if (code === BRACKET || code === BRACE) {
      const next = text.charCodeAt(skipSpace(text, i + 1));
      if (next !== BRACKET + 2 && next !== BRACE + 2) entries++;
    }
  }
  return entries > most;
}

const [QUOTE, COMMA, BRACKET, BRACE] = [0x22, 0x2c, 0x5b, 0x7b];

/** The refusal of a number that a double cannot represent: the compared value would differ from the sent one. */
export function inexactNumber(text: string, at: number): FactsRefusal {
  return refusal('inexact_number', 'A number loses digits when it is parsed; write it as a string', spanAt(text, at));
}

export function spanAt(text: string, at: number): Span {
  let line = 1;
  let start = 0;
  for (let feed = text.indexOf('\n'); feed !== -1 && feed < at; feed = text.indexOf('\n', feed + 1)) {
    line++;
    start = feed + 1;
  }
  const column = at - start + 1;
  return { startLine: line, startColumn: column, endLine: line, endColumn: column + 1 };
}
