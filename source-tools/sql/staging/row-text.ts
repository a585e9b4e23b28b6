import { closingQuote } from '../../../policy/text/json-string';

/**
 * Splits a row, as written by the server (`to_jsonb(row)::text`), into its members. Values stay text, because parsing would round
 * numbers. One linear pass. Throws if the text is not a JSON object; values are not validated, because the server wrote them.
 */
export function columnsOf(row: string): Map<string, string> {
  const columns = new Map<string, string>();
  let at = skipBlank(row, 0);
  if (row.charCodeAt(at) !== OPEN) throw new TypeError('A row is expected to be a JSON object');
  at = skipBlank(row, at + 1);
  if (row.charCodeAt(at) === CLOSE) return columns;
  for (;;) {
    const keyEnd = stringEnd(row, at);
    const quoted = row.slice(at, keyEnd);
    const key = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
    at = skipBlank(row, keyEnd);
    if (row.charCodeAt(at) !== COLON) throw new TypeError('A row is expected to have ":" after a name');
    at = skipBlank(row, at + 1);
    const end = valueEnd(row, at);
    columns.set(key, row.slice(at, end));
    at = skipBlank(row, end);
    if (row.charCodeAt(at) === CLOSE) return columns;
    if (row.charCodeAt(at) !== COMMA) throw new TypeError('A row is expected to have "," between members');
    at = skipBlank(row, at + 1);
  }
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN = 123;
const CLOSE = 125;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;

function skipBlank(text: string, from: number): number {
  for (let at = from; ; at++) {
    const c = text.charCodeAt(at);
    if (c !== 32 && c !== 10 && c !== 9 && c !== 13) return at;
  }
}

/** Position after the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  if (text.charCodeAt(at) !== QUOTE) throw new TypeError('A row is expected to have a string here');
  const end = closingQuote(text, at + 1);
  if (end === -1) throw new TypeError('A row ends inside a string');
  return end + 1;
}

/** Position after the value that begins at `at`. */
function valueEnd(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = stringEnd(text, i) - 1;
    else if (c === OPEN || c === OPEN_LIST) depth++;
    else if (c === CLOSE || c === CLOSE_LIST) {
      if (depth === 0) return i;
      depth--;
    } else if (c === COMMA && depth === 0) return i;
  }
  throw new TypeError('A row ends inside a value');
}
