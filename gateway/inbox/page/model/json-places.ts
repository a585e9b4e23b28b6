import { MAX_DEPTH } from '../../../../policy/contracts/canonical-json';
import { arrayIndex, tokensOf } from '../../../../policy/text/json-pointer';
import { readJsonAt, skipSpace, type JsonRead } from '../../../../policy/text/json-text';

/** A range of offsets in a text. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

interface Member {
  /** Offset of its name, or of an item of an array. */
  readonly named: number;
  readonly value: number;
}

/** Members of one object or array, by name or index. */
type Members = ReadonlyMap<string, Member>;

/**
 * Places in a text of valid JSON. Each object and array on the way to a place is read once, however many pointers name something in it:
 * a review can have thousands of them, into a document of 1 MiB.
 */
export class JsonPlaces {
  readonly #members = new Map<number, Members>();
  readonly #ends = new Map<number, number | null>();

  constructor(private readonly text: string) {}

  /**
   * The member that a JSON pointer names, with its name. If it does not exist, the innermost object or array around it that does:
   * evidence can point at something that is missing. Null if the text is not JSON or the pointer is invalid.
   */
  of(pointer: string): Range | null {
    const tokens = tokensOf(pointer);
    if (tokens === null) return null;
    // Rules read a document without its byte order mark.
    let start = skipSpace(this.text, this.text.startsWith('\ufeff') ? 1 : 0);
    let named = start;
    for (const token of tokens) {
      const next = this.#memberOf(start, token);
      if (next === undefined) break;
      named = next.named;
      start = next.value;
    }
    const end = this.#endOf(start);
    return end === null ? null : { start: named, end };
  }

  #memberOf(open: number, token: string): Member | undefined {
    const isArray = this.text[open] === '[';
    if (!isArray && this.text[open] !== '{') return undefined;
    const members = this.#members.get(open) ?? membersOf(this.text, open, isArray);
    this.#members.set(open, members);
    return members.get(isArray ? String(arrayIndex(token)) : token);
  }

  #endOf(start: number): number | null {
    const known = this.#ends.get(start);
    if (known !== undefined) return known;
    const value = valueAt(this.text, start);
    const end = value.ok ? value.end : null;
    this.#ends.set(start, end);
    return end;
  }
}

/** Up to what is not valid JSON. */
function membersOf(text: string, open: number, isArray: boolean): Members {
  const members = new Map<string, Member>();
  let at = skipSpace(text, open + 1);
  for (let i = 0; at < text.length && text[at] !== ']' && text[at] !== '}'; i++) {
    const named = at;
    let name = String(i);
    if (!isArray) {
      const key = valueAt(text, at);
      if (!key.ok) return members;
      name = String(key.value);
      at = skipSpace(text, skipSpace(text, key.end) + 1); // After the colon.
    }
    if (!members.has(name)) members.set(name, { named, value: at });
    const value = valueAt(text, at);
    if (!value.ok) return members;
    at = skipSpace(text, value.end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
}

function valueAt(text: string, start: number): JsonRead {
  return readJsonAt(text, start, MAX_DEPTH, { steps: text.length * 8 + 64 });
}
