import { classesOf } from '../rules/secrets/characters';
import { isReference } from '../rules/secrets/randomness';

const MIN_LENGTH = 6;
/** Starts with a letter or digit. No space, quote, bracket, comma, semicolon or `*+/=<>|\\:`: neither a sentence nor code. */
const ONE_WORD = /^[A-Za-z\d][\w.~!@#$%^&-]*$/;
const BASE64 = /^[\w+/-]{16,}={0,2}$/;

/** True for one word, or base64, with a letter and a digit that is not a name: it can be a secret, but not an effect that must be seen. */
export function isOpaque(value: string): boolean {
  if (value.length < MIN_LENGTH || !(ONE_WORD.test(value) || BASE64.test(value)) || isReference(value)) return false;
  const { upper, lower, digit } = classesOf(value);
  return digit > 0 && upper + lower > 0;
}
