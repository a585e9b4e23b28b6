import { isBreak, isQuote, isTokenUnit, skipBlank } from '../rules/secrets/characters';
import type { SecretSpan } from '../rules/secrets/secret-span';
import { wordList } from '../text/word-list';

export const MAX_NAME = 64;
const SENSITIVE = wordList(`
  password passwd passphrase pwd secret token apikey accesskey privatekey credential authorization bearer signingkey
  encryptionkey clientkey connectionstring
`);
/** Suffixes of names that describe a secret but do not contain one: `token_count`, `password_changed_at`. */
const HARMLESS = wordList(`
  count length expires expiry changedat updatedat createdat policy attempts type name hashalgorithm enabled required
  tokens
`);

/** True if a value assigned to this name is probably a secret. Ignores case, `_`, `-` and `.`. */
export function isSensitiveName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll('_', '').replaceAll('-', '').replaceAll('.', '');
  if (!SENSITIVE.some((word) => plain.includes(word))) return false;
  return !HARMLESS.some((word) => plain.endsWith(word) && plain.length > word.length);
}

/** The value that is assigned to a sensitive name or follows it: `password = 'x'`, `PASSWORD 'x'`, `"token": "x"`, `Bearer x`. */
export function findAssigned(text: string, nameStart: number, nameEnd: number): SecretSpan | null {
  let i = nameEnd;
  if (isQuote(text[i]) && text[i] === text[nameStart - 1]) i++;
  i = skipBlank(text, i);
  let operator = false;
  while (i < text.length && i - nameEnd < 24 && '=:>|,('.includes(text[i] ?? '')) {
    operator = true;
    i = skipBlank(text, i + 1);
  }
  if ((text[i] === 'E' || text[i] === 'e' || text[i] === 'N') && isQuote(text[i + 1])) i++;
  if (isQuote(text[i])) {
    const end = endOfQuoted(text, i + 1, text[i] ?? '');
    return end > i + 1 && !isPlaceholder(text, i + 1, end) ? { kind: 'assigned', start: i + 1, end } : null;
  }
  // Check before the scan, so that a sequence of names without operators is not scanned repeatedly.
  if ((!operator && i === nameEnd) || isPlaceholder(text, i, i + 24)) return null;
  const end = endOfBare(text, i);
  if (isScheme(text.slice(i, Math.min(end, i + 8)))) {
    const from = skipBlank(text, end);
    if (from === end || isPlaceholder(text, from, from + 24)) return null;
    const to = endOfBare(text, from);
    return to - from >= 4 ? { kind: 'assigned', start: from, end: to } : null;
  }
  if (end - i < (operator ? 6 : 16)) return null;
  return operator || mixed(text, i, Math.min(end, i + 200)) ? { kind: 'assigned', start: i, end } : null;
}

function endOfBare(text: string, start: number): number {
  let end = start;
  while (end < text.length && !isBreak(text[end] ?? '') && !',;)]}'.includes(text[end] ?? '')) end++;
  return end;
}

function isScheme(word: string): boolean {
  const lower = word.toLowerCase();
  return lower === 'bearer' || lower === 'basic' || lower === 'token';
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

/** True if the range contains a digit or an upper-case letter. `sk-button-primary-large` is a class name, not a key. */
export function mixed(text: string, start: number, end: number): boolean {
  return /[0-9A-Z]/.test(text.slice(start, end));
}
