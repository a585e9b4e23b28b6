import { containsAction, isAction } from './action-words';

/** Identifiers without words. The third is a time of Slack, which is the identifier of a message. */
const NUMBERS: readonly RegExp[] = [
  /^\d{1,20}$/,
  /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i,
  /^\d{10}\.\d{6}$/,
];
/** The number 0 and the UUIDs of equal digits: some servers read them as every resource or none. */
const NO_RESOURCE = /^(?:[0-]+|[f-]+)$/i;

/** Letters before or after numbers: `KT-170-BL`, `ord_5001`, `INC0010023`. */
const KEYS: readonly RegExp[] = [
  /^(?=[^0-9]*\d)[A-Z][A-Z0-9]{0,15}(?:-[A-Z0-9]{1,16}){1,4}$/,
  /^[a-z]{1,10}[_-]\d{2,20}$/,
  /^[A-Z]{1,10}\d{5,20}$/,
];
/** `cus_9s6XKzkNRiz8i3`, `01J9ZC4QK3V8`, `MDU6SXNzdWUyMzEzOTE1NTE=` */
const TOKEN = /^(?:(?<kind>[A-Za-z]{1,10})[_-])?(?<random>[A-Za-z0-9]{8,64}={0,2})$/;
const TWO_NUMBERS = /\d[^0-9]+\d/;
/** Words have more letters of one case in a row. */
const MIXED = /^(?!.*(?:[a-z]{5}|[A-Z]{5}))(?=.*\d)(?=.*[a-z][A-Z].*[a-z][A-Z])/;
/** `V1StGXR8_Z5jdHi6B-myT` */
const BASE64URL = /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9_-]{14,64}$/;
/** Where a small letter, a capital or a digit follows another kind of these. */
const CHANGES = /(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]/g;

const ADDRESS = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?@(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,24}$/i;

/**
 * Whether the text has the form of an identifier of one resource. A word can be an action or a group, as in `CANCEL-42` and
 * `ALL-2026`, so letters must be a code: at most two, or without vowels, or an abbreviation of `resource`, or in `words`.
 *
 * @param resource Name of the collection, such as `orders`.
 * @param words In lower case.
 */
export function isIdentifier(text: string, resource: string, words: ReadonlySet<string>): boolean {
  return unknownWords(text, resource, words)?.length === 0;
}

/** Words of a text that has the form of an identifier, each of which can be an action; empty for an identifier, null for another form. */
export function unknownWords(text: string, resource: string, words: ReadonlySet<string>): readonly string[] | null {
  if (NUMBERS.some((form) => form.test(text))) return NO_RESOURCE.test(text) ? null : [];
  const unknown = (letters: readonly string[]): readonly string[] =>
    letters.filter((word) => !isCodeOf(resource.toLowerCase(), word.toLowerCase(), words));
  if (KEYS.some((form) => form.test(text))) return unknown(text.split(/[^A-Za-z]+/));
  const { kind = '', random } = TOKEN.exec(text)?.groups ?? {};
  if (random !== undefined && isRandom(random) && !containsAction(random)) return unknown([kind]);
  if ((ADDRESS.test(text) || isMixed(text)) && !containsAction(text)) return [];
  return null;
}

const isRandom = (text: string): boolean => TWO_NUMBERS.test(text) || MIXED.test(text) || isMixed(text);

/** In words, the kind of the characters changes less often than in random text, in which it does after 62 of 100. */
function isMixed(text: string): boolean {
  if (!BASE64URL.test(text)) return false;
  return (text.match(CHANGES) ?? []).length >= text.replaceAll(/[_-]/g, '').length * 0.45;
}

function isCodeOf(resource: string, letters: string, words: ReadonlySet<string>): boolean {
  if (words.has(letters)) return true;
  if (isAction(letters)) return false;
  if (letters.length <= 2 || (letters.length <= 4 && !/[aeiouy]/.test(letters))) return true;
  return abbreviates(letters, resource);
}

/** Whether the name starts with the first letter and contains the others in their order: `acct` of `accounts`. */
function abbreviates(letters: string, name: string): boolean {
  if (letters[0] !== name[0]) return false;
  let at = 0;
  for (const letter of letters) {
    at = name.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
