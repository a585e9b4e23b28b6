import { z } from 'zod';
import type { Status } from './finding';
import { JsonRecord } from './json-value';

/** Two levels, or empty. A consumer treats empty as `warn`. */
export const Severity = z.enum(['warn', 'block', '']);
export type Severity = z.infer<typeof Severity>;

/** A verdict in the shape of flyto. `score` is an advisory confidence from 0 to 1, usable as a breaker weight. */
export const Verdict = z.strictObject({
  approved: z.boolean(),
  score: z.number().min(0).max(1),
  reason: z.string(),
  severity: Severity,
  details: JsonRecord,
  validatorName: z.string(),
  policyVersion: z.string(),
});
export type Verdict = z.infer<typeof Verdict>;

/** Maps a verdict to the status of a finding. A contradictory verdict (approved with severity `block`) fails closed, and
 * so does one that is not of the type. */
export function verdictStatus(verdict: Pick<Verdict, 'approved' | 'severity'>): Status {
  const { approved, severity } = verdict;
  if (typeof approved !== 'boolean' || (severity !== '' && severity !== 'warn')) return 'BLOCK';
  // If it is not approved, an empty severity counts as warn.
  return approved && severity === '' ? 'ALLOW' : 'WARN';
}
