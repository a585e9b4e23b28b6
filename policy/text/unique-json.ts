import { spanAt } from './json-document';
import { readJson, type JsonRefusal } from './json-text';

/** More than any settings file has. */
const MAX_DEPTH = 64;

/**
 * Parses JSON that a person wrote, such as a settings file. Throws SyntaxError with the place of the first problem if the text is not JSON,
 * if an object has two members of the same name, of which JSON.parse would keep the last, or if the value cannot be canonical JSON. The
 * message contains nothing of the text, which may hold a key; that of JSON.parse does.
 */
export function parseUniqueJson(text: string): unknown {
  const read = readJson(text, MAX_DEPTH);
  // The objects of the reader have no prototype.
  if (read.ok) return JSON.parse(text);
  const { startLine, startColumn } = spanAt(text, read.at);
  throw new SyntaxError(`line ${startLine} column ${startColumn}: ${PROBLEMS[read.reason]}`);
}

const PROBLEMS: Readonly<Record<JsonRefusal, string>> = {
  syntax: 'not JSON',
  truncated: 'the JSON ends too early',
  duplicate_key: 'the second member of this name in one object; remove one',
  too_deep: `more than ${MAX_DEPTH} levels of objects and arrays`,
  budget: 'too long to be read',
  number_range: 'a number that is too large',
  lone_surrogate: 'half of a surrogate pair',
};
