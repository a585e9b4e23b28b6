import { RE2JS } from 're2js';
import { errorMessage } from '../contracts/error-message';

const MAX_PATTERN_LENGTH = 2000;

/** Why `source` cannot be a forbidden pattern in RE2 syntax; null if it can. */
export function patternProblem(source: string): string | null {
  if (source === '' || source.length > MAX_PATTERN_LENGTH)
    return `expected a pattern of 1 to ${MAX_PATTERN_LENGTH} characters`;
  try {
    return RE2JS.compile(source).test('') ? 'matches the empty text, so it would block every diff' : null;
  } catch (error) {
    return `not RE2 syntax: ${errorMessage(error)}`;
  }
}
