import { arrayIndex, tokensOf } from '../../../../policy/text/json-pointer';
import { closingQuote } from '../../../../policy/text/json-string';

/** A range of offsets in a text. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * The member that a JSON pointer names, with its name, in a text of valid JSON. If there is no such member, the innermost object or array
 * around it that exists: evidence can point at something that is missing. Null if the text is not JSON or the pointer is invalid.
 */
export function placeOfPointer(text: string, pointer: string): Range | null {
  const tokens = tokensOf(pointer);
  if (tokens === null) return null;
  let start = skipSpace(text, 0);
  let named = start;
  for (const token of tokens) {
    const next = memberOf(text, start, token);
    if (next === null) break;
    named = next.named;
    start = next.value;
  }
  const end = endOfValue(text, start);
  return end === null ? null : { start: named, end };
}

function memberOf(
  text: string,
  open: number,
  token: string,
): { readonly named: number; readonly value: number } | null {
  const isArray = text[open] === '[';
  if (!isArray && text[open] !== '{') return null;
  const index = isArray ? arrayIndex(token) : null;
  let at = skipSpace(text, open + 1);
  for (let i = 0; at < text.length && text[at] !== ']' && text[at] !== '}'; i++) {
    const named = at;
    let key: string | null = null;
    if (!isArray) {
      const close = text[at] === '"' ? closingQuote(text, at + 1, true) : -1;
      if (close === -1) return null;
      key = stringOf(text.slice(at, close + 1));
      at = skipSpace(text, close + 1);
      if (text[at] !== ':') return null;
      at = skipSpace(text, at + 1);
    }
    if (isArray ? i === index : key === token) return { named, value: at };
    const end = endOfValue(text, at);
    if (end === null) return null;
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return null;
}

/** The offset after the value that starts at `start`. Does not recurse: nesting is not bounded here. */
function endOfValue(text: string, start: number): number | null {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const letter = text[at];
    if (letter === '"') {
      const close = closingQuote(text, at + 1, true);
      if (close === -1) return null;
      at = close + 1;
    } else if (letter === '{' || letter === '[') {
      depth++;
      at++;
    } else if (letter === '}' || letter === ']') {
      depth--;
      at++;
    } else if (depth > 0) {
      at++;
      continue;
    } else {
      const word = WORD.exec(text.slice(at, at + MAX_WORD));
      return word === null ? null : at + word[0].length;
    }
    if (depth === 0) return at;
  }
  return null;
}

const MAX_WORD = 400;
const WORD = /^[-+.0-9A-Za-z]+/;

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \n\r\t'.includes(text[at] ?? '')) at++;
  return at;
}

function stringOf(literal: string): string | null {
  try {
    return String(JSON.parse(literal));
  } catch (error) {
    if (error instanceof SyntaxError) return null; // Not a string of JSON, so it names no member.
    throw error;
  }
}

/** Line and column of an offset, both from 1. */
export function lineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let feed = text.indexOf('\n'); feed !== -1 && feed < offset; feed = text.indexOf('\n', feed + 1)) {
    line++;
    start = feed + 1;
  }
  return { line, column: offset - start + 1 };
}
