/**
 * Reads one raw text of the model as one answer, or says why it cannot.
 *
 * R1 No repair, no case folding, no synonyms: every leniency here would be a way to turn BLOCK into ALLOW.
 * R2 Exactly one object that could be a verdict, and not as a part of something else. Two, even identical, are refused: the first may be a quotation of the diff.
 * R3 What stands outside the object can only tighten it.
 */
import { objectsInText, type FoundObject } from './objects-in-text';
import { WireAnswer } from './wire';

/** Raised whenever the same text would be read in another way. Part of `logic_hash`. */
export const ANSWER_PARSER_REVISION = 4;

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
      /** The unreadable text says BLOCK somewhere: asking again could only launder it. */
      readonly saysBlock: boolean;
    };

export interface ExpectedAnswer {
  /** Every policy must have exactly one row. Null: not checked. */
  readonly policyIds: readonly string[] | null;
  /** Null: not checked. */
  readonly canary: string | null;
}

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
    return refuse(code, `an object at character ${broken.start} cannot be read: ${broken.reason.replaceAll('_', ' ')}`);
  }
  const candidates = found.objects.filter(couldBeVerdict);
  const [candidate] = candidates;
  if (candidate === undefined) return refuse('no_object', 'there is no verdict object in the text');
  if (candidates.length > 1)
    return refuse('several_objects', `there are ${candidates.length} objects that could be the verdict`);
  if (candidate.enclosed) return refuse('broken_object', 'the verdict object stands inside something that is no JSON');

  const parsed = WireAnswer.safeParse(candidate.value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    // Place and kind only: a message of the schema's may quote the answer, and the answer may quote the diff.
    return refuse(
      'schema',
      `${issue?.path.join('.') || 'answer'} does not fit the schema (${issue?.code ?? 'custom'})`,
    );
  }
  const answer = parsed.data;
  if (expected.canary !== null && answer.canary !== expected.canary)
    return refuse('canary', 'the canary is not the one of the request');
  const rows = rowsProblem(answer, expected.policyIds);
  if (rows !== null) return refuse('policy_rows', rows);
  return { ok: true, answer, proseContradicts: proseContradicts(found.prose) };
}

function rowsProblem(answer: WireAnswer, policyIds: readonly string[] | null): string | null {
  const ids = answer.policyResults.map((row) => row.policyId);
  if (new Set(ids).size !== ids.length) return 'a policy has more than one row';
  if (policyIds === null) return null;
  const asked = [...new Set(policyIds)];
  const missing = asked.filter((id) => !ids.includes(id));
  if (missing.length > 0) return `policies without a row: ${missing.join(', ')}`;
  return ids.length === asked.length ? null : 'there are rows for policies that were not asked about';
}

/** Asking again after such a text could only launder it. */
export function saysBlock(text: string): boolean {
  return /BLOCK/i.test(text);
}

/** Verdict words by themselves, as models write verdicts: "no reason to block" is prose, "BLOCK" is an answer. */
const VERDICT_WORD = /(?<![A-Za-z_])(?:BLOCK|BLOCKED|WARN|ABSTAIN|REJECT|REJECTED|DENY|DENIED)(?![A-Za-z_])/;
const VERDICT_PHRASE = /verdict[^A-Za-z0-9]{0,8}(?:is[^A-Za-z0-9]{1,4})?(?:block|warn|abstain|reject|deny)/i;

function proseContradicts(prose: string): boolean {
  return VERDICT_WORD.test(prose) || VERDICT_PHRASE.test(prose);
}

/**
 * Words of the wire form and of other verdicts. Ordinary rows have some of them, too; such a row beside the verdict is
 * refused with it, since no list of bad values is whole: `{"outcome": "rollback"}`.
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
const VERDICT_VALUES = new Set([
  'allow',
  'warn',
  'block',
  'abstain',
  'approve',
  'approved',
  'blocked',
  'reject',
  'rejected',
  'deny',
  'denied',
]);
/** An object that says, in any key or value at any depth, something that a verdict would say. */
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
