import type { RE2JS } from 're2js';
import { classesOf, entropyOf, followsEscape, isWord, isWordy } from './characters';
import { INNER_FORMATS } from './inner-formats';
import { isFiller, isPublished } from './placeholders';
import { formatsAt } from './places';
import type { ScannedSecrets, SecretSpan } from './secret-span';

/** Maximum length of the text that a pattern is tried on. */
const MAX_TOKEN = 1600;
/** Maximum number of tries of patterns in one text. Needed because in a hostile text every place may look like a prefix. */
const MAX_TRIALS = 5_000;

const UNDERSCORE = 0x5f;

/** Tokens of a known format. `places`: candidate positions from `placesIn`. Patterns are tried only on short pieces. */
export function knownTokens(text: string, places: readonly number[]): ScannedSecrets {
  let trials = MAX_TRIALS;
  const spans: SecretSpan[] = [];
  let [runEnd, next] = [0, 0];
  for (const i of places) {
    if (i < next || !isWord(text.charCodeAt(i))) continue;
    const last = i === 0 ? 0 : text.charCodeAt(i - 1);
    // A name may be joined to a token with an underscore.
    if (isWord(last) && last !== UNDERSCORE && !followsEscape(text, i, last)) continue;
    if (i >= runEnd) runEnd = endOfWord(text, i);
    for (const format of formatsAt(text, i)) {
      if (runEnd - i < format.min || !text.startsWith(format.prefix, i)) continue;
      if (trials-- <= 0) return { spans, unchecked: i };
      const found = matchToken(format, text.slice(i, i + MAX_TOKEN));
      if (found === null) continue;
      spans.push({ kind: format.kind, start: i + found.start, end: i + found.end });
      next = i + found.end;
      break;
    }
  }
  for (const format of INNER_FORMATS) {
    const { kind, literal, before, after, digits } = format;
    for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + literal.length)) {
      const from = Math.max(0, at - before);
      if (!digitsBefore(text, at, digits)) continue;
      if (trials-- <= 0) return { spans, unchecked: at };
      const found = matchToken(format, text.slice(from, at + after));
      if (found !== null) spans.push({ kind, start: from + found.start, end: from + found.end });
    }
  }
  return { spans, unchecked: null };
}

interface MatchedFormat {
  readonly kind: string;
  readonly prefix?: string;
  readonly pattern: () => RE2JS;
  readonly entropy: number;
}

function matchToken(
  { kind, pattern, entropy, prefix = '' }: MatchedFormat,
  piece: string,
): { start: number; end: number } | null {
  const matcher = pattern().matcher(piece);
  if (!matcher.find()) return null;
  const token = matcher.group(1) as string;
  const { digit, upper, lower } = classesOf(token);
  // Ordinary words after a known prefix: `sk-button-primary`, `s.makeController`.
  const rest = token.slice(prefix.length);
  if (digit === 0 && (upper === 0 || lower === 0 || (token.length < 32 && isWordy(rest)))) return null;
  if (entropyOf(token) < entropy || isFiller(token)) return null;
  // The example keys of the AWS documentation end in EXAMPLE.
  if (kind === 'aws_key_id' && token.endsWith('EXAMPLE')) return null;
  if (isPublished(token)) return null;
  return { start: matcher.start(1), end: matcher.end(1) };
}

function digitsBefore(text: string, at: number, count: number): boolean {
  if (at < count) return false;
  for (let i = at - count; i < at; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return false;
  }
  return true;
}

function endOfWord(text: string, from: number): number {
  let i = from;
  while (i < text.length && (isWord(text.charCodeAt(i)) || text[i] === '-')) i++;
  return i;
}
