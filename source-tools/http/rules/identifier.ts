import { containsAction, isAction } from './action-words';

/** Identifiers without words. */
const NUMBER = /^\d{1,20}$/;
const UUID = /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i;
/** The number 0 and the UUIDs of equal digits: some servers read them as every resource or none. */
const NO_RESOURCE = /^(?:[0-]+|[f-]+)$/i;

/** Letters before or after numbers: `KT-170-BL`, `ord_5001`. */
const KEYS: readonly RegExp[] = [
  /^(?=[^0-9]*\d)[A-Z][A-Z0-9]{0,15}(?:-[A-Z0-9]{1,16}){1,4}$/,
  /^[a-z]{1,10}_\d{2,20}$/,
];
/** `cus_9s6XKzkNRiz8i3`, `01J9ZC4QK3V8` */
const TOKEN = /^(?:(?<kind>[a-z]{1,10})_)?(?<random>[A-Za-z0-9]{8,64})$/;
const TWO_NUMBERS = /\d[^0-9]+\d/;
/** Words have more letters of one case in a row. */
const MIXED = /^(?!.*(?:[a-z]{5}|[A-Z]{5}))(?=.*\d)(?=.*[a-z][A-Z].*[a-z][A-Z])/;

/**
 * Whether the text has the form of an identifier of one resource. A word can be an action or a group, as in `CANCEL-42` and
 * `ALL-2026`, so letters must be a code: at most two, or without vowels, or an abbreviation of `resource`, or in `words`.
 *
 * @param resource Name of the collection, such as `orders`.
 * @param words In lower case.
 */
export function isIdentifier(text: string, resource: string, words: ReadonlySet<string>): boolean {
  if (NUMBER.test(text) || UUID.test(text)) return !NO_RESOURCE.test(text);
  const isCode = (letters: string): boolean => isCodeOf(resource.toLowerCase(), letters.toLowerCase(), words);
  if (KEYS.some((form) => form.test(text))) return text.split(/[^A-Za-z]+/).every(isCode);
  const { kind, random } = TOKEN.exec(text)?.groups ?? {};
  if (random === undefined || !(TWO_NUMBERS.test(random) || MIXED.test(random))) return false;
  return isCode(kind ?? '') && !containsAction(random.toLowerCase());
}

function isCodeOf(resource: string, letters: string, words: ReadonlySet<string>): boolean {
  if (letters.length <= 2 || words.has(letters)) return true;
  if (letters.length <= 4 && !/[aeiouy]/.test(letters)) return true;
  return !isAction(letters) && abbreviates(letters, resource);
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
