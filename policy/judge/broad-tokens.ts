import {
  classesOf,
  entropyOf,
  isBreak,
  isQuote,
  isRunUnit,
  isTokenUnit,
  isWordy,
  skipBlank,
} from '../rules/secrets/characters';
import { FORMATS } from '../rules/secrets/formats';
import { isReference } from '../rules/secrets/randomness';
import type { SecretSpan } from '../rules/secrets/secret-span';
import { findAssigned, isSensitiveName, MAX_NAME, mixed } from './broad-names';
import { isOpaque } from './opaque';

interface Prefix {
  readonly kind: string;
  readonly prefix: string;
  /** Minimum length of the token, prefix included. */
  readonly min: number;
}

/** The prefixes of all known formats with a reduced minimum length, so that a truncated key is found too. */
const PREFIXES: readonly Prefix[] = FORMATS.map(({ kind, prefix, min }) => ({
  kind,
  prefix,
  min: Math.max(prefix.length + 10, 20, Math.ceil(min * 0.6)),
}));

const BY_FIRST: ReadonlyMap<string, readonly Prefix[]> = new Map(
  [...new Set(PREFIXES.map((p) => p.prefix[0] ?? ''))].map((first) => [
    first,
    PREFIXES.filter((p) => p.prefix.startsWith(first)),
  ]),
);

const MIN_RANDOM = 32;
/** Minimum length of a token that is identified by its format alone. */
const MIN_TOKEN = 14;
const DASH = 0x2d;

/**
 * Finds secrets in `text`. Inspects each token once and skips what a span covers, so that the time is linear. `names` are the ascending offsets of possibly sensitive names: the `broad` places of `placesIn`.
 */
export function findInTokens(text: string, names: readonly number[]): SecretSpan[] {
  const spans: SecretSpan[] = [];
  const length = text.length;
  let i = 0;
  let [runEnd, name] = [0, 0];
  while (i < length) {
    if (!isTokenUnit(text.charCodeAt(i))) {
      i++;
      continue;
    }
    const start = i;
    while (i < length && isTokenUnit(text.charCodeAt(i))) i++;
    const beginsRun = start >= runEnd;
    if (i > runEnd) runEnd = endOfRun(text, i);
    while (name < names.length && (names[name] as number) < start) name++;
    const mayBeName = name < names.length && (names[name] as number) < i;
    // Most tokens are plain words: too short for a key, not an option and not a sensitive name.
    const isShort = i - start < MIN_TOKEN && runEnd - start < MIN_RANDOM;
    if (isShort && !mayBeName && text.charCodeAt(start) !== DASH) continue;
    const span = inspectToken(text, start, i, runEnd, beginsRun, mayBeName);
    if (span === null) continue;
    spans.push(span);
    i = Math.max(i, span.end);
  }
  return spans;
}

/** `runEnd` is the end of the base64 run that contains the token; a run may also contain `+`, `/` and `=`. */
function inspectToken(
  text: string,
  start: number,
  end: number,
  runEnd: number,
  beginsRun: boolean,
  mayBeName: boolean,
): SecretSpan | null {
  const known = knownToken(text, start, end);
  if (known !== null) return { kind: known, start, end: runEnd };
  const length = end - start;
  const value =
    length > MAX_NAME
      ? null
      : (otherwiseKnown(text, start, end) ?? (mayBeName ? assignedValue(text, start, end) : null));
  if (value !== null) return value;
  if (!(beginsRun || length >= 16) || runEnd - start < MIN_RANDOM) return null;
  return looksRandom(text, start, Math.min(runEnd, start + 200)) ? { kind: 'random_token', start, end: runEnd } : null;
}

function otherwiseKnown(text: string, start: number, end: number): SecretSpan | null {
  if (text.charCodeAt(start) === DASH) {
    const option = text.slice(start, end);
    return option === '-u' || option === '--user' ? userAndPassword(text, end) : null;
  }
  if (text.charCodeAt(end) === 0x7c && FACEBOOK_ID.test(text.slice(start, end))) {
    const runEnd = endOfRun(text, end + 1);
    return isOpaque(text.slice(end + 1, runEnd)) ? { kind: 'facebook', start: end + 1, end: runEnd } : null;
  }
  return null;
}

function assignedValue(text: string, start: number, end: number): SecretSpan | null {
  return isSensitiveName(text.slice(start, end)) ? findAssigned(text, end) : null;
}

const FACEBOOK_ID = /^[0-9]{15,16}$/;

/** `curl -u name:password`, quoted or not. */
function userAndPassword(text: string, from: number): SecretSpan | null {
  let i = skipBlank(text, from);
  if (i === from || i >= text.length) return null;
  if (isQuote(text[i])) i++;
  let colon = -1;
  let end = i;
  for (; end < text.length && end - i < 300 && !isBreak(text[end] ?? ''); end++)
    if (text[end] === ':' && colon === -1) colon = end;
  if (colon === -1 || !isOpaque(text.slice(colon + 1, end))) return null;
  return { kind: 'credentials', start: colon + 1, end };
}

function knownToken(text: string, start: number, end: number): string | null {
  const length = end - start;
  if (length < MIN_TOKEN) return null;
  for (const { kind, prefix, min } of BY_FIRST.get(text[start] ?? '') ?? []) {
    if (length < min || !text.startsWith(prefix, start) || !mixed(text, start + prefix.length, end)) continue;
    // A name with the same prefix, such as `pk_orderItemsId2`, stays visible.
    return isReference(text.slice(start, end)) ? null : kind;
  }
  return length >= 40 && text.startsWith('eyJ', start) && text.slice(start, end).includes('.') ? 'jwt' : null;
}

function endOfRun(text: string, from: number): number {
  let i = from;
  while (i < text.length) {
    if (!isRunUnit(text.charCodeAt(i))) break;
    i++;
  }
  return i;
}

/** True for digits and letters of both cases with high entropy: excludes hex hashes, words, paths and snake_case names. */
function looksRandom(text: string, start: number, end: number): boolean {
  const value = text.slice(start, end);
  const { upper, lower, digit, other } = classesOf(value);
  return (
    upper >= 3 && lower >= 3 && digit >= 3 && other <= value.length / 5 && entropyOf(value) >= 4 && !isWordy(value)
  );
}
