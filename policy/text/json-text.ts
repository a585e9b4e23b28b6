/**
 * A JSON parser for untrusted text (RFC 8259) that is stricter than JSON.parse.
 *
 * P1 Duplicate keys in an object are refused, compared after unescaping. JSON.parse keeps the last one, so that
 *    `{"verdict":"BLOCK","verdict":"ALLOW"}` would be ALLOW.
 * P2 The work is bounded by a budget of steps that several attempts share, so that restarting at every brace stays linear.
 * P3 Lone surrogates and numbers outside the double range are refused, because the value must be canonical JSON.
 */

import { isWellFormed } from '../contracts/canonical-json';

export interface Budget {
  /** Number of characters that may still be read. */
  steps: number;
}

export type JsonRead =
  | { readonly ok: true; readonly value: unknown; readonly end: number }
  | { readonly ok: false; readonly reason: JsonRefusal; readonly at: number };

export type JsonRefusal =
  'syntax' | 'truncated' | 'duplicate_key' | 'too_deep' | 'budget' | 'number_range' | 'lone_surrogate';

/** Reads the JSON value that starts at `start`. `end` is the index after it. Objects have no prototype. */
export function readJsonAt(text: string, start: number, maxDepth: number, budget: Budget): JsonRead {
  const reader = new Reader(text, start, maxDepth, budget);
  const value = reader.value(0);
  if (value === REFUSED) return { ok: false, ...reader.refusal };
  return { ok: true, value, end: reader.at };
}

/** Reads a complete text as one JSON value with only white space around it. */
export function readJson(text: string, maxDepth: number): JsonRead {
  const start = skipSpace(text, 0);
  const read = readJsonAt(text, start, maxDepth, { steps: text.length * 2 + 16 });
  if (!read.ok) return read;
  const end = skipSpace(text, read.end);
  return end === text.length ? { ...read, end } : { ok: false, reason: 'syntax', at: end };
}

export function skipSpace(text: string, from: number): number {
  let i = from;
  while (i < text.length && isSpace(text.charCodeAt(i))) i++;
  return i;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const HEX4 = /^[0-9a-fA-F]{4}$/;
const ESCAPED = '"\\/bfnrt';

/** Signals a refusal. Not an exception: one costs 50 µs, and hostile text causes thousands. */
const REFUSED = Symbol('refused');
type Refused = typeof REFUSED;

class Reader {
  refusal: { readonly reason: JsonRefusal; readonly at: number } = { reason: 'syntax', at: 0 };

  constructor(
    private readonly text: string,
    public at: number,
    private readonly maxDepth: number,
    private readonly budget: Budget,
  ) {}

  value(depth: number): unknown {
    if (depth > this.maxDepth) return this.refuse('too_deep');
    if (!this.skip(skipSpace(this.text, this.at))) return REFUSED;
    const letter = this.text[this.at];
    switch (letter) {
      case undefined:
        return this.refuse('truncated');
      case '{':
        return this.object(depth);
      case '[':
        return this.array(depth);
      case '"':
        return this.string();
      case 't':
        return this.word('true', true);
      case 'f':
        return this.word('false', false);
      case 'n':
        return this.word('null', null);
      default:
        return this.number();
    }
  }

  private object(depth: number): object | Refused {
    const object = Object.create(null) as { [key: string]: unknown };
    this.at++;
    if (!this.skip(skipSpace(this.text, this.at))) return REFUSED;
    if (this.text[this.at] === '}') {
      this.at++;
      return object;
    }
    for (;;) {
      if (!this.skip(skipSpace(this.text, this.at))) return REFUSED;
      if (this.at >= this.text.length) return this.refuse('truncated');
      if (this.text[this.at] !== '"') return this.refuse('syntax');
      const keyAt = this.at;
      const key = this.string();
      if (key === REFUSED) return REFUSED;
      if (key in object) return this.refuse('duplicate_key', keyAt);
      if (!this.expect(':')) return REFUSED;
      const value = this.value(depth + 1);
      if (value === REFUSED) return REFUSED;
      object[key] = value;
      if (!this.skip(skipSpace(this.text, this.at))) return REFUSED;
      if (this.text[this.at] === '}') break;
      if (!this.expect(',')) return REFUSED;
    }
    this.at++;
    return object;
  }

  private array(depth: number): unknown[] | Refused {
    const array: unknown[] = [];
    this.at++;
    if (!this.skip(skipSpace(this.text, this.at))) return REFUSED;
    if (this.text[this.at] === ']') {
      this.at++;
      return array;
    }
    for (;;) {
      const value = this.value(depth + 1);
      if (value === REFUSED) return REFUSED;
      array.push(value);
      if (!this.skip(skipSpace(this.text, this.at))) return REFUSED;
      if (this.text[this.at] === ']') break;
      if (!this.expect(',')) return REFUSED;
    }
    this.at++;
    return array;
  }

  private string(): string | Refused {
    const { text } = this;
    const opened = this.at;
    let escaped = false;
    let i = opened + 1;
    for (;;) {
      if (i >= text.length) return this.stop(i, 'truncated');
      const code = text.charCodeAt(i);
      if (code === 0x22) break;
      if (code < 0x20) return this.stop(i, 'syntax');
      if (code !== 0x5c) {
        i++;
        continue;
      }
      escaped = true;
      if (i + 1 >= text.length) return this.stop(i, 'truncated');
      const letter = text[i + 1] as string;
      if (letter !== 'u') {
        if (!ESCAPED.includes(letter)) return this.stop(i, 'syntax');
        i += 2;
        continue;
      }
      const digits = text.slice(i + 2, i + 6);
      if (digits.length < 4) return this.stop(i, 'truncated');
      if (!HEX4.test(digits)) return this.stop(i, 'syntax');
      i += 6;
    }
    if (!this.skip(i + 1)) return REFUSED;
    // The loop above has validated the string, so JSON.parse only decodes it.
    const value = escaped ? (JSON.parse(text.slice(opened, i + 1)) as string) : text.slice(opened + 1, i);
    return isWellFormed(value) ? value : this.refuse('lone_surrogate', opened);
  }

  private number(): number | Refused {
    NUMBER.lastIndex = this.at;
    const match = NUMBER.exec(this.text);
    if (match === null) return this.refuse('syntax');
    if (!this.skip(this.at + match[0].length)) return REFUSED;
    const value = Number(match[0]);
    return Number.isFinite(value) ? value : this.refuse('number_range');
  }

  private word<T>(word: string, value: T): T | Refused {
    if (!this.text.startsWith(word, this.at)) {
      return this.refuse(word.startsWith(this.text.slice(this.at, this.at + word.length)) ? 'truncated' : 'syntax');
    }
    this.at += word.length;
    return value;
  }

  private expect(letter: string): boolean {
    if (!this.skip(skipSpace(this.text, this.at))) return false;
    if (this.text[this.at] === letter) {
      this.at++;
      return true;
    }
    this.refuse(this.at >= this.text.length ? 'truncated' : 'syntax');
    return false;
  }

  /** Advances to `to`; returns false and refuses if the budget is exhausted. */
  private skip(to: number): boolean {
    this.budget.steps -= to - this.at + 1;
    this.at = to;
    if (this.budget.steps >= 0) return true;
    this.refuse('budget');
    return false;
  }

  /** Refuses a string that is invalid at `i`, after charging the budget for the characters read. */
  private stop(i: number, reason: JsonRefusal): Refused {
    return this.skip(i) ? this.refuse(reason) : REFUSED;
  }

  private refuse(reason: JsonRefusal, at = this.at): Refused {
    this.refusal = { reason, at };
    return REFUSED;
  }
}
