import { z } from 'zod';
import type { Status } from './finding';

/** F17: exactly two tiers, and the empty one, which only consumers read as warn (F19). */
export const Severity = z.enum(['warn', 'block', '']);
export type Severity = z.infer<typeof Severity>;

/** flyto's verdict (F12). `score` is advisory confidence in 0..1, usable as breaker weight (F14). */
export const Verdict = z.strictObject({
  approved: z.boolean(),
  score: z.number().min(0).max(1),
  reason: z.string(),
  severity: Severity,
  details: z.record(z.string(), z.json()),
  validatorName: z.string(),
  policyVersion: z.string(),
});
export type Verdict = z.infer<typeof Verdict>;

/** What a verdict means as a finding. A contradiction (approved, yet severity block) fails closed (T24). */
export function verdictStatus(verdict: Pick<Verdict, 'approved' | 'severity'>): Status {
  if (verdict.severity === 'block') return 'BLOCK';
  if (!verdict.approved) return 'WARN'; // '' reads as warn here (C3, F19)
  return verdict.severity === 'warn' ? 'WARN' : 'ALLOW';
}
