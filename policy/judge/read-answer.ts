/**
 * Reads the raw text of one model answer.
 *
 * R1 The text is exactly one JSON object, after an optional `<think>…</think>` block and inside an optional code fence.
 *    Any other text beside it makes the answer unreadable, so that the object cannot be a quotation of the diff.
 * R2 No repair, no case folding, no synonyms and no search for words: each would be a way to turn BLOCK into ALLOW.
 * R3 Unknown and duplicate members, and lines that the model was not shown, make the answer unreadable too.
 */
import { isWellFormed } from '../contracts/canonical-json';
import { readJsonAt, skipSpace, type JsonRefusal } from '../text/json-text';
import { utf8Length } from '../text/utf8-length';
import { isShown, type Piece } from './pieces';
import { WireAnswer } from './wire';

/** Raise it whenever the result for the same text changes. Part of `logic_hash`. */
export const ANSWER_PARSER_REVISION = 6;

const MAX_ANSWER_BYTES = 64 * 1024;
/** Deeper values are refused; the wire schema needs four levels. */
const MAX_ANSWER_DEPTH = 32;

export type AnswerRefusal =
  | 'too_long'
  | 'lone_surrogate'
  | 'unclosed_think'
  | 'unclosed_fence'
  | 'no_object'
  | 'invalid_json'
  | 'truncated'
  | 'too_deep'
  | 'duplicate_key'
  | 'text_after'
  | 'schema'
  | 'canary'
  | 'policy_rows'
  | 'lines';

interface AnswerRefused {
  readonly ok: false;
  readonly code: AnswerRefusal;
  readonly message: string;
}

type AnswerRead = { readonly ok: true; readonly answer: WireAnswer } | AnswerRefused;

/** What the request asked for. Null: not checked. */
interface ExpectedAnswer {
  /** Policies that must have exactly one row each. */
  readonly policyIds: readonly string[] | null;
  readonly canary: string | null;
  /** The lines that the model was shown. */
  readonly piece: Piece | null;
}

/** Reads `raw` strictly. Never throws; a refusal's `message` does not quote the answer. */
export function readAnswer(raw: string, expected: ExpectedAnswer): AnswerRead {
  if (utf8Length(raw) > MAX_ANSWER_BYTES)
    return refuse('too_long', `the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
  if (!isWellFormed(raw)) return refuse('lone_surrogate', 'the answer contains a lone surrogate');
  const body = bodyOf(raw);
  if (!body.ok) return body;
  const object = objectIn(raw, body);
  if (!object.ok) return object;

  const parsed = WireAnswer.safeParse(object.value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    // Only path and code: the schema's message may quote the answer, and the answer may quote the diff.
    return refuse(
      'schema',
      `${issue?.path.join('.') || 'answer'} does not match the schema (${issue?.code ?? 'custom'})`,
    );
  }
  const answer = parsed.data;
  if (expected.canary !== null && answer.canary !== expected.canary)
    return refuse('canary', 'the canary differs from the one in the request');
  const rows = rowsProblem(answer, expected.policyIds);
  if (rows !== null) return refuse('policy_rows', rows);
  const lines = expected.piece === null ? null : linesProblem(answer, expected.piece);
  return lines === null ? { ok: true, answer } : refuse('lines', lines);
}

function refuse(code: AnswerRefusal, message: string): AnswerRefused {
  return { ok: false, code, message };
}

interface Body {
  readonly ok: true;
  readonly start: number;
  /** The offset of the closing fence, or of the end of the text. */
  readonly end: number;
}

const THINK = '<think>';
const THINK_END = '</think>';
const FENCE = '```';
const FENCE_START = /```(?:json)?\r?\n/y;

/** Finds what is left without the think block and the fence. */
function bodyOf(text: string): Body | AnswerRefused {
  let start = skipSpace(text, 0);
  if (text.startsWith(THINK, start)) {
    const close = text.indexOf(THINK_END, start);
    const nested = text.indexOf(THINK, start + THINK.length);
    if (close === -1 || (nested !== -1 && nested < close))
      return refuse('unclosed_think', 'the leading <think> is not closed before other text');
    start = skipSpace(text, close + THINK_END.length);
  }
  FENCE_START.lastIndex = start;
  if (FENCE_START.exec(text) === null) return { ok: true, start, end: text.length };
  const inside = FENCE_START.lastIndex;
  const closing = endWithoutSpace(text, inside) - FENCE.length;
  if (closing < inside || !text.startsWith(FENCE, closing) || text[closing - 1] !== '\n')
    return refuse('unclosed_fence', 'the answer does not end with a line that closes its code fence');
  return { ok: true, start: skipSpace(text, inside), end: closing };
}

function endWithoutSpace(text: string, from: number): number {
  let end = text.length;
  while (end > from && ' \n\r\t'.includes(text.charAt(end - 1))) end--;
  return end;
}

type ReadObject = { readonly ok: true; readonly value: unknown } | AnswerRefused;

function objectIn(text: string, { start, end }: Body): ReadObject {
  if (text[start] !== '{')
    return refuse(
      'no_object',
      start >= end ? 'the answer contains no JSON object' : `expected a JSON object at character ${start}`,
    );
  const read = readJsonAt(text, start, MAX_ANSWER_DEPTH, { steps: text.length * 2 + 16 });
  if (!read.ok)
    return refuse(codeOf(read.reason), `invalid JSON at character ${read.at}: ${read.reason.replaceAll('_', ' ')}`);
  const rest = skipSpace(text, read.end);
  return rest === end
    ? { ok: true, value: read.value }
    : refuse('text_after', `the answer contains text after the JSON object, at character ${rest}`);
}

function codeOf(reason: JsonRefusal): AnswerRefusal {
  switch (reason) {
    case 'truncated':
    case 'duplicate_key':
    case 'too_deep':
    case 'lone_surrogate':
      return reason;
    case 'syntax':
    case 'budget':
    case 'number_range':
      return 'invalid_json';
    default:
      return reason satisfies never;
  }
}

function rowsProblem(answer: WireAnswer, policyIds: readonly string[] | null): string | null {
  const ids = answer.policyResults.map((row) => row.policyId);
  if (new Set(ids).size !== ids.length) return 'a policy has more than one row';
  if (policyIds === null) return null;
  const requested = [...new Set(policyIds)];
  const missing = requested.filter((id) => !ids.includes(id));
  if (missing.length > 0) return `policies without a row: ${missing.join(', ')}`;
  return ids.length === requested.length ? null : 'the answer has rows for policies that were not requested';
}

function linesProblem({ observations, policyResults }: WireAnswer, piece: Piece): string | null {
  const observed = observations.findIndex(({ line }) => !isShown(piece, line));
  if (observed !== -1) return `observations.${observed}.line is not a line of the request`;
  const row = policyResults.findIndex(({ lines }) => lines.some((line) => !isShown(piece, line)));
  return row === -1 ? null : `policyResults.${row}.lines contains a number that is not a line of the request`;
}
