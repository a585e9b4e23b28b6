/**
 * Parses the raw text of one model answer.
 *
 * R1 No repair, no case folding, no synonyms: each would be a way to turn BLOCK into ALLOW.
 * R2 Exactly one object that could be a verdict, and not inside another structure. Two are rejected, even if they are
 *    identical: the first may be quoted from the diff.
 * R3 Text outside the object can only make the result stricter.
 */
import { objectsInText, type FoundObject } from './objects-in-text';
import { WireAnswer } from './wire';
import { wordList } from '../text/word-list';

/** Raise it whenever the result for the same text changes. Part of `logic_hash`. */
export const ANSWER_PARSER_REVISION = 5;

export type AnswerRefusal =
  | 'too_long'
  | 'unclosed_think'
  | 'root_array'
  | 'budget'
  | 'no_object'
  | 'several_objects'
  | 'broken_object'
  | 'duplicate_key'
  | 'truncated'
  | 'schema'
  | 'canary'
  | 'policy_rows';

export type AnswerRead =
  | { readonly ok: true; readonly answer: WireAnswer; readonly proseContradicts: boolean }
  | {
      readonly ok: false;
      readonly code: AnswerRefusal;
      readonly message: string;
      /** The text contains BLOCK: a retry could only turn it into a weaker verdict. */
      readonly saysBlock: boolean;
    };

export interface ExpectedAnswer {
  /** Policies that must have exactly one row each. Null: not checked. */
  readonly policyIds: readonly string[] | null;
  /** Null: not checked. */
  readonly canary: string | null;
}

/** Parses `raw` strictly. Never throws; a refusal's `message` does not quote the answer. */
export function readAnswer(raw: string, expected: ExpectedAnswer): AnswerRead {
  const refuse = (code: AnswerRefusal, message: string): AnswerRead => ({
    ok: false,
    code,
    message,
    saysBlock: saysBlock(raw),
  });

  const found = objectsInText(raw);
  if (!found.ok) return refuse(found.code, found.message);
  const broken = found.broken.find((b) => b.looksLikeJson);
  if (broken !== undefined) {
    const code = broken.reason === 'duplicate_key' || broken.reason === 'truncated' ? broken.reason : 'broken_object';
    return refuse(code, `invalid JSON object at character ${broken.start}: ${broken.reason.replaceAll('_', ' ')}`);
  }
  const candidates = found.objects.filter(couldBeVerdict);
  const [candidate] = candidates;
  if (candidate === undefined) return refuse('no_object', 'the answer contains no verdict object');
  if (candidates.length > 1)
    return refuse('several_objects', `the answer contains ${candidates.length} possible verdict objects, expected one`);
  if (candidate.enclosed)
    return refuse('broken_object', 'the verdict object is inside text in braces that is not JSON');

  const parsed = WireAnswer.safeParse(candidate.value);
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
  return { ok: true, answer, proseContradicts: proseContradicts(found.prose) };
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

/** True if the text contains BLOCK in any case: such an answer is not retried, so that it cannot become weaker. */
export function saysBlock(text: string): boolean {
  return /BLOCK/i.test(text);
}

/** Verdict words in upper case, as models write verdicts: "no reason to block" is prose, "BLOCK" is an answer. */
const VERDICT_WORD = /(?<![A-Za-z_])(?:BLOCK|BLOCKED|WARN|ABSTAIN|REJECT|REJECTED|DENY|DENIED)(?![A-Za-z_])/;
const VERDICT_PHRASE = /verdict[^A-Za-z0-9]{0,8}(?:is[^A-Za-z0-9]{1,4})?(?:block|warn|abstain|reject|deny)/i;

function proseContradicts(prose: string): boolean {
  return VERDICT_WORD.test(prose) || VERDICT_PHRASE.test(prose);
}

/**
 * Keys of the wire form and of other verdict formats. Ordinary rows have some of them too. An answer with such a row next
 * to the verdict is rejected, because no list of bad values is complete: `{"outcome": "rollback"}`.
 */
const VERDICT_KEYS = new Set([
  ...Object.keys(WireAnswer.shape).map((key) => key.toLowerCase()),
  'approved',
  'approve',
  'decision',
  'status',
  'severity',
  'result',
  'outcome',
  'action',
  'answer',
  'response',
  'policyid',
  'error',
  'refusal',
]);
const VERDICT_VALUES = new Set(
  wordList('allow warn block abstain approve approved blocked reject rejected deny denied'),
);
/** True if any key or value, at any depth, is one that a verdict would have. */
function couldBeVerdict(object: FoundObject): boolean {
  const stack: unknown[] = [object.value];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value === 'string') {
      if (VERDICT_VALUES.has(plain(value))) return true;
    } else if (typeof value === 'object' && value !== null) {
      if (!Array.isArray(value) && Object.keys(value).some((key) => VERDICT_KEYS.has(plain(key)))) return true;
      for (const member of Object.values(value)) stack.push(member);
    }
  }
  return false;
}

function plain(word: string): string {
  return word.trim().toLowerCase();
}
