import { z } from 'zod';
import { Severity, type Verdict } from '../../policy/contracts/verdict';
import { objectsInText, type FoundObject } from '../../policy/judge/objects-in-text';

/** What a model says of a verdict (F12). Name and version are ours to say (F52), whatever it wrote there. */
const SaidVerdict = z.object({
  approved: z.boolean(),
  score: z.number().min(0).max(1),
  reason: z.string(),
  severity: Severity.optional(),
  details: z.record(z.string(), z.json()).optional(),
});

export type VerdictRead =
  | { readonly ok: true; readonly verdict: Omit<Verdict, 'validatorName' | 'policyVersion'> }
  | { readonly ok: false; readonly message: string };

/**
 * Reads flyto's verdict from a model's text: lenient to fences and prose (F51), strict in everything else. More than one
 * object that speaks of approval, even an identical one, is none (T22): the first may be quoted from the diff.
 */
export function readVerdict(text: string): VerdictRead {
  const found = objectsInText(text);
  if (!found.ok) return { ok: false, message: found.message };
  const broken = found.broken.find((b) => b.looksLikeJson);
  if (broken !== undefined)
    return {
      ok: false,
      message: `an object at character ${broken.start} cannot be read: ${broken.reason.replaceAll('_', ' ')}`,
    };
  const verdicts = found.objects.filter(speaksOfApproval);
  const [only] = verdicts;
  if (only === undefined) return { ok: false, message: 'there is no verdict object in the text' };
  if (verdicts.length > 1) return { ok: false, message: `there are ${verdicts.length} verdict objects in the text` };
  if (only.enclosed) return { ok: false, message: 'the verdict object stands inside something that is no JSON' };
  const said = SaidVerdict.safeParse(only.value);
  if (!said.success) {
    const [issue] = said.error.issues;
    return {
      ok: false,
      message: `${issue?.path.join('.') || 'verdict'}: ${issue?.message ?? 'does not fit'}`.slice(0, 300),
    };
  }
  const { approved, score, reason, severity = '', details = {} } = said.data;
  // A contradiction fails closed (T24).
  return { ok: true, verdict: { approved: approved && severity !== 'block', score, reason, severity, details } };
}

const KEYS = new Set(['approved', 'severity', 'verdict', 'score', 'reason']);
/** These speak of approval inside a wrapper too. */
const KEYS_AT_ANY_DEPTH = new Set(['approved', 'severity', 'verdict']);

function speaksOfApproval({ value }: FoundObject): boolean {
  return Object.keys(value).some((key) => KEYS.has(key.toLowerCase())) || speaksWithin(value);
}

/** The depth of what was found is bounded. */
function speaksWithin(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(speaksWithin);
  return Object.entries(value).some(
    ([key, member]) => KEYS_AT_ANY_DEPTH.has(key.toLowerCase()) || speaksWithin(member),
  );
}
