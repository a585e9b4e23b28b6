import { assignmentAt, newRunCache, type Assignment } from './assignment';
import { classesOf, entropyOf, isRunUnit, isWord, isWordy } from './characters';
import { insertedValues, valuesOfKeys } from './inserted';
import { mayBePassword, namesService, plainName, sensitiveName, STEMS, type NameKind } from './names';
import { isFiller, isPlaceholder } from './placeholders';
import { isHexText, isReference, looksRandom } from './randomness';
import type { ScannedSecrets, SecretSpan } from './secret-span';
import { SERVICES } from './services';
import { wordList } from '../../text/word-list';

const MAX_VALUE = 500;
const MIN_PASSWORD = 6;
const MIN_SERVICE = 14;
const MIN_RANDOM = 16;
/** Maximum number of findings in one text. */
const MAX_FOUND = 1000;
/** Maximum number of tries of service patterns in one text. */
const MAX_TRIALS = 5_000;

/**
 * Values assigned to a name that is sensitive. `places`: candidate positions from `placesIn`. Linear time: the work for each
 * name is bounded.
 */
export function assignedSecrets(text: string, places: readonly number[]): ScannedSecrets {
  const spans: SecretSpan[] = [];
  const kinds = new Map<string, NameKind | null>();
  for (const { name, value, assignment } of [...assignments(text, places, MIN_PASSWORD), ...inserted(text)]) {
    if (spans.length === MAX_FOUND) return { spans, unchecked: assignment.nameStart };
    // A shorter value can only be a password.
    if (value.length < MIN_RANDOM && !mayBePassword(name)) continue;
    let kind = kinds.get(name);
    if (kind === undefined) kinds.set(name, (kind = sensitiveName(name)));
    if (kind === null) continue;
    const isSecret = kind === 'password' ? isPassword(name, value, assignment) : isRandom(value, assignment);
    if (isSecret && !isPlaceholder(value)) spans.push({ kind, start: assignment.valueStart, end: assignment.valueEnd });
  }
  return { spans, unchecked: null };
}

/** Values that have the format of a service's keys and are assigned to a name that contains the service's name. */
export function serviceSecrets(text: string, places: readonly number[]): ScannedSecrets {
  const spans: SecretSpan[] = [];
  let left = MAX_TRIALS;
  for (const { name, value, assignment } of assignments(text, places, MIN_SERVICE)) {
    if (assignment.by === 'blank' || isPlaceholder(value)) continue;
    if (left-- <= 0 || spans.length === MAX_FOUND) return { spans, unchecked: assignment.nameStart };
    const service = SERVICES.find(
      ({ words, pattern }) => words.some((word) => namesService(name, word)) && pattern().test(value),
    );
    if (service === undefined || !looksRandom(value) || isFiller(value)) continue;
    spans.push({ kind: service.kind, start: assignment.valueStart, end: assignment.valueEnd });
  }
  return { spans, unchecked: null };
}

/** The values of INSERT and UPDATE statements, as if each were assigned to its column or key. */
function* inserted(text: string): Generator<Named> {
  for (const { column, start, end } of [...insertedValues(text), ...valuesOfKeys(text)]) {
    if (end - start < MIN_PASSWORD || end - start > MAX_VALUE) continue;
    const assignment = { nameStart: start, nameEnd: start, valueStart: start, valueEnd: end } as const;
    yield { name: column, value: text.slice(start, end), assignment: { ...assignment, quoted: true, by: 'operator' } };
  }
}

interface Named {
  readonly name: string;
  readonly value: string;
  readonly assignment: Assignment;
}

/** Assignments to the names at the places, each name once. */
function* assignments(text: string, places: readonly number[], minValue: number): Generator<Named> {
  const runs = newRunCache();
  let covered = -1;
  for (const place of places) {
    if (place < covered) continue;
    const assignment = assignmentAt(text, place, runs);
    if (assignment === null) continue;
    const { nameStart, nameEnd, valueStart, valueEnd } = assignment;
    covered = nameEnd;
    if (valueEnd - valueStart < minValue || valueEnd - valueStart > MAX_VALUE) continue;
    yield { name: text.slice(nameStart, nameEnd), value: text.slice(valueStart, valueEnd), assignment };
  }
}

/** True for a value that a person could use as a password: at least six characters, not only letters, and not code. */
function isPassword(name: string, value: string, { quoted, by }: Assignment): boolean {
  const { upper, lower, digit, other } = classesOf(value);
  if (value.length < 6 || value.length > 200 || value.includes(' ') || isVersion(value) || isReference(value))
    return false;
  // A word of code or of a sentence: `password.encode("latin1")`, `can pass "x=1"`. Not `user.setPassword("x")`.
  if ((by === 'call' && !isSetter(name)) || (by === 'blank' && !plainName(name).includes('passw'))) return false;
  // Code: `(password, PASSWORD_ARGON2ID)`, `password: String!`.
  if (!quoted && (by === 'comma' || value.startsWith('+') || readsAsCode(value) || isTypeName(value))) return false;
  if (digit === value.length && value.length < 8) return false;
  const kinds = [upper, lower, digit, other].filter((count) => count > 0).length;
  const isWordLike = digit === 0 && (kinds < 3 || [...value].every((letter) => isNameLetter(letter)));
  return by === 'operator' || (by === 'blank' && quoted) ? !isWordLike && kinds >= 2 : kinds >= 3;
}

function isSetter(name: string): boolean {
  return /(?:^|[._-])(?:set|with)[A-Z_]/.test(name);
}

function isTypeName(value: string): boolean {
  return (
    value.endsWith('!') && [...value.slice(0, -1)].every((letter) => isWord(letter.charCodeAt(0)) && !isDigit(letter))
  );
}

const isDigit = (letter: string): boolean => letter >= '0' && letter <= '9';

/** The version of a package whose name looks sensitive: `^7.1.3`, `>=2.0`. */
function isVersion(value: string): boolean {
  return [...value].every((letter) => '^~<>=.*v'.includes(letter) || isDigit(letter)) && value.includes('.');
}

function isNameLetter(letter: string): boolean {
  const code = letter.charCodeAt(0);
  return isRunUnit(code) && letter !== '+' && letter !== '=';
}

/** An expression, not a value: `form.password2`, `get("x1")`, `a[0]`. */
function readsAsCode(value: string): boolean {
  if (/[([{]|::|->/.test(value.slice(0, 200)) || isPath(value) || isIdentifier(value)) return true;
  if (!value.includes('.')) return false;
  const parts = value.split('.');
  return parts.length > 1 && parts.every((part) => /^[A-Za-z_$][\w$]*$/.test(part.slice(0, 100)));
}

/** A variable that is named after its content: `ExpectedMD5PasswordMessage`. */
function isIdentifier(value: string): boolean {
  const lower = value.toLowerCase();
  if (lower === value || !STEMS.some((stem) => lower.includes(stem))) return false;
  for (let i = 0; i < value.length; i++) if (!isWord(value.charCodeAt(i))) return false;
  return isWordy(value);
}

/** The address of a blockchain account (`0x` and 40 digits), or the scope of a signed AWS request. */
function isAddress(value: string): boolean {
  return (value.length === 42 && value.startsWith('0x')) || value.endsWith('/aws4_request');
}

const ROOTS = wordList('./ ../ ~/ /bin/ /etc/ /home/ /opt/ /run/ /srv/ /tmp/ /Users/ /usr/ /var/');

/** A file path. `PWD` is more often the working directory than a password. */
function isPath(value: string): boolean {
  return ROOTS.some((root) => value.startsWith(root));
}

/** A generated value: long, with high entropy and frequent changes between character classes. */
function isRandom(written: string, { quoted, by }: Assignment): boolean {
  if (by === 'blank' && !quoted) return false;
  const value = written.startsWith('base64:') ? written.slice('base64:'.length) : written;
  if (value.length < MIN_RANDOM || isReference(value) || (!quoted && readsAsCode(value))) return false;
  if (quoted && isMixed(value)) return true;
  let changes = 0;
  let last = '';
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (!isRunUnit(code)) return false;
    const now = code <= 0x39 && code >= 0x30 ? 'd' : code >= 0x61 ? 'l' : code >= 0x41 && code <= 0x5a ? 'u' : 'o';
    if (last !== '' && now !== last) changes++;
    last = now;
  }
  const { digit, other, upper } = classesOf(value);
  // Words and a number: `auth_provider_x509_url`, `ClientSecretProviderV2`.
  if (longestPart(value) < MIN_PART || (upper > 0 && digit < 4 && isWordy(value))) return false;
  if (digit < (value.length < 32 ? 2 : 1) || other > value.length / 4 || isAddress(value)) return false;
  return changes >= (value.length - 1) * 0.25 && entropyOf(value) >= (isHexText(value) ? 3 : 3.3);
}

const MIN_MIXED = 32;
/** A longer value needs no upper-case letters. */
const MIN_WITHOUT_UPPER = 40;

/** A value that a password generator makes of all keyboard characters. Not a URL, a character class or a template. */
function isMixed(value: string): boolean {
  if (value.length < MIN_MIXED || value.includes('://') || value.includes('-z') || value.includes('{{')) return false;
  const { upper, lower, digit, other } = classesOf(value);
  const most = value.length * 0.6;
  const least = value.length < MIN_WITHOUT_UPPER ? Math.min(upper, lower, other) : Math.min(lower, other);
  if (least < value.length / 16 || digit === 0 || other > most) return false;
  const marks = new Set([...value].filter((letter) => !isRunUnit(letter.charCodeAt(0))));
  return marks.size >= 4 && !marks.has(' ') && entropyOf(value) >= 4.5;
}

const MIN_PART = 12;

/** Length of the longest part without separators. */
function longestPart(value: string): number {
  let [longest, length] = [0, 0];
  for (let i = 0; i < value.length; i++) {
    length = isWord(value.charCodeAt(i)) && value[i] !== '_' ? length + 1 : 0;
    longest = Math.max(longest, length);
  }
  return longest;
}
