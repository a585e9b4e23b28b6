import { z } from 'zod';
import { Verdict } from '../../policy/contracts/verdict';
import { objectsInText, type FoundObject } from './objects-in-text';

/** The part of a verdict that the model decides. The validator sets name and version and ignores those in the answer. */
const ModelVerdict = z.object({
  ...Verdict.pick({ approved: true, score: true, reason: true }).shape,
  severity: Verdict.shape.severity.optional(),
  details: Verdict.shape.details.optional(),
});

type VerdictRead =
  | { readonly ok: true; readonly verdict: Omit<Verdict, 'validatorName' | 'policyVersion'> }
  | { readonly ok: false; readonly message: string };

/**
 * Reads a flyto verdict from a model's text. Accepts code fences and prose around the object; everything else is strict.
 * Rejects an answer with two verdict objects, even if they are identical: the first may be quoted from the diff.
 */
export function readVerdict(text: string): VerdictRead {
  const found = objectsInText(text);
  if (!found.ok) return { ok: false, message: found.message };
  const broken = found.broken.find((b) => b.looksLikeJson);
  if (broken !== undefined)
    return {
      ok: false,
      message: `invalid JSON object at character ${broken.start}: ${broken.reason.replaceAll('_', ' ')}`,
    };
  const verdicts = found.objects.filter(looksLikeVerdict);
  const [only] = verdicts;
  if (only === undefined) return { ok: false, message: 'the text contains no verdict object' };
  if (verdicts.length > 1)
    return { ok: false, message: `the text contains ${verdicts.length} verdict objects, expected one` };
  if (only.enclosed) return { ok: false, message: 'the verdict object is inside text in braces that is not JSON' };
  const parsed = ModelVerdict.safeParse(only.value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return {
      ok: false,
      message: `${issue?.path.join('.') || 'verdict'}: ${issue?.message ?? 'invalid value'}`.slice(0, 300),
    };
  }
  const { approved, severity = '', details = {}, ...rest } = parsed.data;
  // `approved` with severity `block` is a contradiction: fail closed.
  return { ok: true, verdict: { ...rest, approved: approved && severity !== 'block', severity, details } };
}

const TOP_LEVEL_KEYS = new Set(['approved', 'severity', 'verdict', 'score', 'reason']);
/** Keys that mark a verdict inside a wrapper object too. */
const NESTED_KEYS = new Set(['approved', 'severity', 'verdict']);

function looksLikeVerdict({ value }: FoundObject): boolean {
  return Object.keys(value).some((key) => TOP_LEVEL_KEYS.has(key.toLowerCase())) || containsVerdictKey(value);
}

/** Recursion is safe: `objectsInText` bounds the depth. */
function containsVerdictKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(containsVerdictKey);
  return Object.entries(value).some(
    ([key, member]) => NESTED_KEYS.has(key.toLowerCase()) || containsVerdictKey(member),
  );
}
