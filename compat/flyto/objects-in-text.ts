import { readJsonAt, skipSpace, type Budget, type JsonRefusal } from '../../policy/text/json-text';
import { utf8Length } from '../../policy/text/utf8-length';

/** Deeper values are refused. */
const MAX_ANSWER_DEPTH = 32;
const MAX_ANSWER_BYTES = 64 * 1024;

const MAX_OPENINGS = 512;

/** One outermost JSON object in a text. */
export interface FoundObject {
  readonly value: { readonly [key: string]: unknown };
  readonly start: number;
  readonly end: number;
  /** It is inside a pair of braces that is not valid JSON, so the meaning of the complete text is unknown. */
  readonly enclosed: boolean;
}

/** A brace that does not start a valid object: prose, or an object that is truncated, malformed or has a duplicate key. */
interface BrokenObject {
  readonly start: number;
  readonly reason: JsonRefusal;
  /** Probably meant as JSON: a quote follows the brace, or a member that only verdicts have, in any quotes. */
  readonly looksLikeJson: boolean;
}

type ObjectsInText =
  | {
      readonly ok: true;
      readonly objects: readonly FoundObject[];
      readonly broken: readonly BrokenObject[];
    }
  | { readonly ok: false; readonly message: string };

/**
 * Finds the outermost JSON objects in a model's text, in order. Ignores the text between them, code fences, a byte order mark and one
 * leading `<think>…</think>`. Refuses an array that contains objects: it is not a verdict, and using its only member would be a repair.
 * Linear time: tries at most 512 braces and brackets and reads each character at most 8 times on average, else `budget`.
 */
export function objectsInText(raw: string): ObjectsInText {
  if (utf8Length(raw) > MAX_ANSWER_BYTES) {
    return { ok: false, message: `the answer is longer than ${MAX_ANSWER_BYTES} bytes` };
  }
  const text = withoutThink(raw.startsWith('\ufeff') ? raw.slice(1) : raw);
  if (text === null) return { ok: false, message: 'a leading <think> is not closed' };

  const budget: Budget = { steps: text.length * 8 + 64 };
  const found: Omit<FoundObject, 'enclosed'>[] = [];
  const braces = new Braces();
  const broken: BrokenObject[] = [];
  let at = 0;
  let openings = 0;
  while (at < text.length) {
    const start = nextOpening(text, at);
    braces.close(text, at, start);
    if (start === text.length) break;
    if (++openings > MAX_OPENINGS) return TOO_MANY;
    const read = readJsonAt(text, start, MAX_ANSWER_DEPTH, budget);
    if (!read.ok) {
      if (read.reason === 'budget' || read.reason === 'too_deep') return TOO_MANY;
      if (text[start] === '{') {
        broken.push({ start, reason: read.reason, looksLikeJson: looksLikeJson(text, start + 1) });
        braces.open(start);
      }
      // Truncated, or followed by prose: the remaining members are unknown.
      else if (read.reason === 'truncated' || text[skipSpace(text, start + 1)] === '{') return ROOT_ARRAY;
      at = start + 1;
      continue;
    }
    if (Array.isArray(read.value)) {
      if (read.value.some((item) => typeof item === 'object' && item !== null)) return ROOT_ARRAY;
    } else found.push({ value: read.value as FoundObject['value'], start, end: read.end });
    at = read.end;
  }
  const objects = found.map((object) => ({ ...object, enclosed: braces.surround(object) }));
  return { ok: true, objects, broken };
}

/** Pairs of braces that are not valid JSON. A brace that is not closed, as in prose, has no pair. */
class Braces {
  readonly #opened: number[] = [];
  readonly #pairs: { readonly from: number; readonly to: number }[] = [];

  open(at: number): void {
    this.#opened.push(at);
  }

  close(text: string, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      if (text.charCodeAt(at) !== 0x7d) continue;
      const opened = this.#opened.pop();
      if (opened !== undefined) this.#pairs.push({ from: opened, to: at });
    }
  }

  surround({ start, end }: { readonly start: number; readonly end: number }): boolean {
    return this.#pairs.some((pair) => pair.from < start && pair.to >= end);
  }
}

/** Matches `{'verdict': …}`, `{approved = no}`, `{“reason”: …, “decision”: …}`: not JSON, but a second answer. */
const VERDICT_MEMBER =
  /(?:^|[^A-Za-z])(?:verdict|approved|decision|policyResults|instructionsInDiff|canary)[^\w\s{}]{0,3}\s{0,20}[:=]/i;
const MEMBER_WITHIN = 400;

/** `from` is the offset after the brace. Reads up to the next brace. */
function looksLikeJson(text: string, from: number): boolean {
  const at = skipSpace(text, from);
  if (text[at] === '"') return true;
  // A wrapper object without a key.
  if (text[at] === '{' && text[skipSpace(text, at + 1)] === '"') return true;
  const near = text.slice(at, at + MEMBER_WITHIN);
  const end = near.search(/[{}]/);
  return VERDICT_MEMBER.test(end === -1 ? near : near.slice(0, end));
}

const TOO_MANY = { ok: false, message: 'too many or too deeply nested objects' } as const;
const ROOT_ARRAY = { ok: false, message: 'the answer is an array, not one object' } as const;

function nextOpening(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x7b || code === 0x5b) return i;
  }
  return text.length;
}

const THINK = '<think>';
const THINK_END = '</think>';

/** The text after a leading think block. Null if the block is not closed: a draft inside could pass for the answer. */
function withoutThink(text: string): string | null {
  const start = skipSpace(text, 0);
  if (!text.startsWith(THINK, start)) return text;
  const end = text.indexOf(THINK_END, start);
  return end === -1 ? null : text.slice(end + THINK_END.length);
}
