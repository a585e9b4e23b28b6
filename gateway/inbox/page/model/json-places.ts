import { MAX_DEPTH } from '../../../../policy/contracts/canonical-json';
import { arrayIndex, tokensOf } from '../../../../policy/text/json-pointer';
import { readJsonAt, skipSpace, type JsonRead } from '../../../../policy/text/json-text';

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
  // Rules read a document without its byte order mark.
  let start = skipSpace(text, text.startsWith('\ufeff') ? 1 : 0);
  let named = start;
  for (const token of tokens) {
    const next = memberOf(text, start, token);
    if (next === null) break;
    named = next.named;
    start = next.value;
  }
  const value = valueAt(text, start);
  return value.ok ? { start: named, end: value.end } : null;
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
    let isNamed = i === index;
    if (!isArray) {
      const key = valueAt(text, at);
      if (!key.ok) return null;
      isNamed = key.value === token;
      at = skipSpace(text, skipSpace(text, key.end) + 1); // After the colon.
    }
    if (isNamed) return { named, value: at };
    const value = valueAt(text, at);
    if (!value.ok) return null;
    at = skipSpace(text, value.end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return null;
}

function valueAt(text: string, start: number): JsonRead {
  return readJsonAt(text, start, MAX_DEPTH, { steps: text.length * 8 + 64 });
}
