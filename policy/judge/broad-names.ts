import { isBreak, isQuote, isTokenUnit, skipBlank } from '../rules/secrets/characters';
import { plainName } from '../rules/secrets/names';
import type { SecretSpan } from '../rules/secrets/secret-span';
import { wordList } from '../text/word-list';
import { isOpaque } from './opaque';

export const MAX_NAME = 64;
const SENSITIVE = wordList(`
  password passwd passphrase passwort motdepasse pwd secret token apikey accesskey privatekey credential authorization
  bearer signingkey encryptionkey clientkey connectionstring appkey masterkey sharedkey accountkey storagekey servicekey
  licensekey deploykey authkey
`);
/** Suffixes of names that describe a secret but do not contain one: `token_count`, `password_changed_at`. */
const HARMLESS = wordList(`
  count length expires expiry changedat updatedat createdat policy attempts type name hashalgorithm enabled required
  tokens masterkeyid
`);

/** True if a value assigned to this name is probably a secret. Ignores case, `_`, `-` and `.`. */
export function isSensitiveName(name: string): boolean {
  const plain = plainName(name);
  if (!SENSITIVE.some((word) => plain.includes(word))) return false;
  return !HARMLESS.some((word) => plain.endsWith(word) && plain.length > word.length);
}

/**
 * The value that is assigned to a sensitive name or follows it: `password = 'x'`, `PASSWORD 'x'`, `"token": "x"`, `Bearer x`. Without
 * quotes it must be opaque, since other values are mostly code.
 */
export function findAssigned(text: string, nameEnd: number): SecretSpan | null {
  let i = nameEnd;
  if (isQuote(text[i])) i++;
  i = skipBlank(text, i);
  while (i < text.length && i - nameEnd < 24 && '=:>|,('.includes(text[i] ?? '')) i = skipBlank(text, i + 1);
  // Check before the scan, so that a sequence of names without operators is not scanned repeatedly.
  if (i === nameEnd) return null;
  if ((text[i] === 'E' || text[i] === 'e' || text[i] === 'N') && isQuote(text[i + 1])) i++;
  if (isQuote(text[i])) {
    const end = endOfQuoted(text, i + 1, text[i] ?? '');
    return end > i + 1 && !isPlaceholder(text, i + 1, end) ? { kind: 'assigned', start: i + 1, end } : null;
  }
  const end = endOfWord(text, i);
  if (isScheme(text.slice(i, Math.min(end, i + 8)))) {
    const from = skipBlank(text, end);
    return from === end ? null : opaqueSpan(text, from, endOfWord(text, from));
  }
  return opaqueSpan(text, i, end);
}

function opaqueSpan(text: string, start: number, end: number): SecretSpan | null {
  return isOpaque(text.slice(start, end)) ? { kind: 'assigned', start, end } : null;
}

/** Longer words are left to the other searches. */
const MAX_VALUE = 300;

function endOfWord(text: string, start: number): number {
  let end = start;
  while (
    end < text.length &&
    end - start < MAX_VALUE &&
    !isBreak(text[end] ?? '') &&
    !',;)]}'.includes(text[end] ?? '')
  )
    end++;
  return end;
}

function endOfQuoted(text: string, start: number, quote: string): number {
  let i = start;
  for (; i < text.length; i++) {
    if (text[i] === '\n') return i;
    if (text[i] === '\\') i++;
    else if (text[i] === quote) return i;
  }
  return Math.min(i, text.length);
}

const NO_VALUES = wordList(
  'null default excluded true false none process.env os.environ current_setting crypt( gen_random varchar text string',
);

/** True for a parameter, a variable, a call or a keyword: the secret itself is not in the text. */
function isPlaceholder(text: string, start: number, end: number): boolean {
  const value = text
    .slice(start, Math.min(end, start + 24))
    .trim()
    .toLowerCase();
  if (value === '' || '$?{<%:'.includes(value[0] ?? '') || value.startsWith('[secret:')) return true;
  return NO_VALUES.some((word) => value.startsWith(word) && !isTokenUnit(value.charCodeAt(word.length)));
}

function isScheme(word: string): boolean {
  const lower = word.toLowerCase();
  return lower === 'bearer' || lower === 'basic' || lower === 'token';
}

/** True if the range contains a digit or an upper-case letter. `sk-button-primary-large` is a class name, not a key. */
export function mixed(text: string, start: number, end: number): boolean {
  return /[0-9A-Z]/.test(text.slice(start, end));
}
