import { classesOf, entropyOf, isHex, isWordy } from './characters';

/** Minimum entropy in bits per character; hexadecimal text has at most four. */
const MIN_ENTROPY = 3;
const MIN_ENTROPY_HEX = 2.8;

/** True if a value looks generated for its alphabet and length, and not like words, a file name or an expression. */
export function looksRandom(value: string): boolean {
  if (isReference(value)) return false;
  const { upper, lower, digit } = classesOf(value);
  if (entropyOf(value) < (isHexText(value) ? MIN_ENTROPY_HEX : MIN_ENTROPY)) return false;
  // Without digits only letters of both cases, mixed, are random.
  if (digit === 0) return Math.min(upper, lower) >= value.length / 5 && !isWordy(value);
  if (upper > 0 && lower > 0) return !isWordy(value) || digit >= value.length / 5;
  // Of 36 lower-case letters and digits more than a quarter are digits; in names there are one or two at the end.
  return digit >= value.length / 12 && lettersInWords(value) <= value.length / 2;
}

/** Number of letters in parts of at least four letters between other characters, such as `customer-service-id2`. */
function lettersInWords(value: string): number {
  const parts = value.split(/[^A-Za-z\d]/);
  if (parts.length < 3) return 0;
  return parts.reduce((sum, part) => sum + (part.length >= 4 && !/\d/.test(part.slice(0, -1)) ? part.length : 0), 0);
}

/** Hexadecimal digits only. */
export function isHexText(value: string): boolean {
  for (let i = 0; i < value.length; i++) if (!isHex(value.charCodeAt(i))) return false;
  return true;
}

const FILE =
  /\.(?:[cm]?[jt]sx?|css|scss|png|jpe?g|gif|svg|webp|ico|json|map|html?|woff2?|ttf|txt|md|py|rb|go|rs|java|lock|ya?ml|toml|xml|pdf|zip|t?gz|whl|jar|log|pem|crt|sql)$/i;
const EXPRESSION = /^[A-Za-z_$][\w$]{0,60}(?:(?:\.|::|->)[A-Za-z_$][\w$]{0,60})+$/;
/** `user-password-2`, `passwordInput`: words with a separator or a change of case, and at most two digits at the end. */
const NAME =
  /^(?:[A-Za-z]{2,20}(?:[-_.][A-Za-z]{2,20}){1,6}(?:[-_.]v?\d{1,2})?|[a-z]{2,20}(?:[A-Z][a-z]{2,20}){1,6}\d{0,2})$/;
const PATH = /^(?:\.{0,2}\/|~\/|[A-Za-z]:\\)(?:[\w.@-]{1,60}[/\\]){0,20}[\w.@-]{0,60}$/;
const PACKAGE = /^(?:@[\w.-]{1,60}\/)?[\w.-]{1,60}@[\^~]?\d{1,5}\.\d/;
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]|$)/;

/** True if a value refers to something: a file (also with a hash in its name), a property, a name, a path, a package, a date. */
export function isReference(value: string): boolean {
  if (value.length > 200) return false;
  if (FILE.test(value) || PACKAGE.test(value) || DATE.test(value)) return true;
  if (NAME.test(value)) return true;
  // A generated value may contain a slash or a dot: the parts of a path or an expression are words.
  return (PATH.test(value) || EXPRESSION.test(value)) && (isWordy(value) || partsAreShort(value));
}

function partsAreShort(value: string): boolean {
  return value.split(/[^A-Za-z\d]/).every((part) => part.length <= 12);
}
