import { RE2JS } from 're2js';
import { errorMessage } from '../contracts/error-message';

const MAX_PATTERN_LENGTH = 2000;
/** What a pattern has by mistake, and then it matches nothing: "\b" in double quotes is a backspace, and a block of YAML ends in a new line. */
const CHARACTER =
  'ends in a new line or contains a control character: in double quotes "\\b" is not a word boundary. Use single quotes, and in CEL also r"…"';

/** Why `source` cannot be a forbidden pattern in RE2 syntax; null if it can. */
export function patternProblem(source: string): string | null {
  if (source === '' || source.length > MAX_PATTERN_LENGTH)
    return `expected a pattern of 1 to ${MAX_PATTERN_LENGTH} characters`;
  if (/[\x00-\x08\x0b-\x1f]|\n$/.test(source)) return CHARACTER;
  try {
    return RE2JS.compile(source).test('') ? 'matches the empty text, so it would block every diff' : null;
  } catch (error) {
    return `not RE2 syntax: ${errorMessage(error)}`;
  }
}
