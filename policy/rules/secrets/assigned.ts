import { assignmentAt, nothingWalked, type Assignment } from './assignment';
import { classesOf, entropyOf, isHex, isRunUnit, isWord, isWordy } from './characters';
import { mayBePassword, plainName, sensitiveName, STEMS, type NameKind } from './names';
import { isFiller, isPlaceholder } from './placeholders';
import type { SecretSpan } from './secret-span';
import { SERVICES } from './services';

const MAX_VALUE = 500;
const MIN_PASSWORD = 6;
const MIN_SERVICE = 14;
const MIN_RANDOM = 16;
/** Places that are found in one text; past it the rest says nothing new. */
const MAX_FOUND = 1000;
/** Patterns of services are tried this often in one text. */
const MAX_TRIALS = 5_000;

export interface Assigned {
  readonly spans: readonly SecretSpan[];
  /** Where it gave up because there are too many; null where it saw all. */
  readonly unchecked: number | null;
}

/**
 * Values that stand beside a name which says that they are secret; `places` from `placesIn`. Linear: each name costs a
 * bounded look around it.
 */
export function assignedSecrets(text: string, places: readonly number[]): Assigned {
  const spans: SecretSpan[] = [];
  const kinds = new Map<string, NameKind | null>();
  for (const { name, value, assignment } of assignments(text, places, MIN_PASSWORD)) {
    if (spans.length === MAX_FOUND) return { spans, unchecked: assignment.nameStart };
    // Shorter ones are looked at beside the name of a password only.
    if (value.length < MIN_RANDOM && !mayBePassword(name)) continue;
    let kind = kinds.get(name);
    if (kind === undefined) kinds.set(name, (kind = sensitiveName(name)));
    if (kind === null) continue;
    const is = kind === 'password' ? isPassword(name, value, assignment) : isRandom(value, assignment);
    if (is && !isPlaceholder(value)) spans.push({ kind, start: assignment.valueStart, end: assignment.valueEnd });
  }
  return { spans, unchecked: null };
}

/** Values beside the name of a service that have the form of its keys. */
export function serviceSecrets(text: string, places: readonly number[]): Assigned {
  const spans: SecretSpan[] = [];
  let left = MAX_TRIALS;
  for (const { name, value, assignment } of assignments(text, places, MIN_SERVICE)) {
    if (assignment.by === 'blank' || isPlaceholder(value)) continue;
    if (left-- <= 0 || spans.length === MAX_FOUND) return { spans, unchecked: assignment.nameStart };
    const lower = name.toLowerCase();
    const service = SERVICES.find(
      ({ words, pattern }) => words.some((word) => lower.includes(word)) && pattern().test(value),
    );
    if (service === undefined || entropyOf(value) < 3 || isFiller(value)) continue;
    spans.push({ kind: service.kind, start: assignment.valueStart, end: assignment.valueEnd });
  }
  return { spans, unchecked: null };
}

interface Named {
  readonly name: string;
  readonly value: string;
  readonly assignment: Assignment;
}

/** Assignments to the names around the places, each name once. */
function* assignments(text: string, places: readonly number[], minValue: number): Generator<Named> {
  const walked = nothingWalked();
  let covered = -1;
  for (const place of places) {
    if (place < covered) continue;
    const assignment = assignmentAt(text, place, walked);
    if (assignment === null) continue;
    const { nameStart, nameEnd, valueStart, valueEnd } = assignment;
    covered = nameEnd;
    if (valueEnd - valueStart < minValue || valueEnd - valueStart > MAX_VALUE) continue;
    yield { name: text.slice(nameStart, nameEnd), value: text.slice(valueStart, valueEnd), assignment };
  }
}

/** What a person would type as one: six characters, not all of them letters, and nothing that reads as code. */
function isPassword(name: string, value: string, { quoted, by }: Assignment): boolean {
  const { upper, lower, digit, other } = classesOf(value);
  if (value.length < 6 || value.length > 200 || value.includes(' ') || isVersion(value)) return false;
  // `password.encode("latin1")`, `can pass "x=1"`: a word of the sentence, or of the code.
  if (by === 'call' || (by === 'blank' && !plainName(name).includes('passw'))) return false;
  // `(password, PASSWORD_ARGON2ID)`, `password: String!`.
  if (!quoted && (by === 'comma' || value.startsWith('+') || readsAsCode(value) || isTypeName(value))) return false;
  if (digit === value.length && value.length < 8) return false;
  const kinds = [upper, lower, digit, other].filter((count) => count > 0).length;
  const isWordLike = digit === 0 && (kinds < 3 || [...value].every((letter) => isNameLetter(letter)));
  return by === 'operator' || (by === 'blank' && quoted) ? !isWordLike && kinds >= 2 : kinds >= 3;
}

function isTypeName(value: string): boolean {
  return (
    value.endsWith('!') && [...value.slice(0, -1)].every((letter) => isWord(letter.charCodeAt(0)) && !isDigit(letter))
  );
}

const isDigit = (letter: string): boolean => letter >= '0' && letter <= '9';

/** `^7.1.3`, `>=2.0`: of a package that is called so. */
function isVersion(value: string): boolean {
  return [...value].every((letter) => '^~<>=.*v'.includes(letter) || isDigit(letter)) && value.includes('.');
}

function isNameLetter(letter: string): boolean {
  const code = letter.charCodeAt(0);
  return isRunUnit(code) && letter !== '+' && letter !== '=';
}

/** `form.password2`, `get("x1")`, `a[0]`: an expression, not a value. */
function readsAsCode(value: string): boolean {
  if (/[([{]/.test(value.slice(0, 200)) || isPath(value) || isIdentifier(value)) return true;
  if (!value.includes('.')) return false;
  const parts = value.split('.');
  return parts.length > 1 && parts.every((part) => /^[A-Za-z_$][\w$]*$/.test(part.slice(0, 100)));
}

/** `ExpectedMD5PasswordMessage`: words, one of which says what the variable holds. */
function isIdentifier(value: string): boolean {
  const lower = value.toLowerCase();
  if (lower === value || !STEMS.some((stem) => lower.includes(stem))) return false;
  for (let i = 0; i < value.length; i++) if (!isWord(value.charCodeAt(i))) return false;
  return isWordy(value);
}

/** `0x` with 40 digits, of an account or a contract, and the scope of a signed request. */
function isAddress(value: string): boolean {
  return (value.length === 42 && value.startsWith('0x')) || value.endsWith('/aws4_request');
}

const ROOTS = [
  './',
  '../',
  '~/',
  '/bin/',
  '/etc/',
  '/home/',
  '/opt/',
  '/run/',
  '/srv/',
  '/tmp/',
  '/Users/',
  '/usr/',
  '/var/',
];

/** Where something lies. `PWD` is a folder more often than a password. */
function isPath(value: string): boolean {
  return ROOTS.some((root) => value.startsWith(root));
}

/** What a machine made: long, of several classes that follow one another without order, many different characters. */
function isRandom(written: string, { quoted, by }: Assignment): boolean {
  if (by === 'blank' && !quoted) return false;
  const value = written.startsWith('base64:') ? written.slice('base64:'.length) : written;
  if (value.length < MIN_RANDOM || (!quoted && readsAsCode(value))) return false;
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
  // Words with a number among them: `auth_provider_x509_url`, `ClientSecretProviderV2`.
  if (longestPart(value) < MIN_PART || (upper > 0 && digit < 4 && isWordy(value))) return false;
  if (digit < (value.length < 32 ? 2 : 1) || other > value.length / 4 || isAddress(value)) return false;
  return changes >= (value.length - 1) * 0.25 && entropyOf(value) >= (isHexText(value) ? 3 : 3.3);
}

const MIN_MIXED = 32;

/** What a generator makes of all the characters of a keyboard: no space, no address, no pattern of characters. */
function isMixed(value: string): boolean {
  if (value.length < MIN_MIXED || value.includes('://') || value.includes('-z') || value.includes('{{')) return false;
  const { upper, lower, digit, other } = classesOf(value);
  const most = value.length * 0.6;
  if (Math.min(upper, lower, other) < value.length / 16 || digit === 0 || other > most) return false;
  const marks = new Set([...value].filter((letter) => !isRunUnit(letter.charCodeAt(0))));
  return marks.size >= 4 && !marks.has(' ') && entropyOf(value) >= 4.5;
}

/** Sixteen different digits have less to say than 64 letters. */
function isHexText(value: string): boolean {
  for (let i = 0; i < value.length; i++) if (!isHex(value.charCodeAt(i))) return false;
  return true;
}

const MIN_PART = 12;

/** Length of the longest piece without separators. */
function longestPart(value: string): number {
  let [longest, length] = [0, 0];
  for (let i = 0; i < value.length; i++) {
    length = isWord(value.charCodeAt(i)) && value[i] !== '_' ? length + 1 : 0;
    longest = Math.max(longest, length);
  }
  return longest;
}
