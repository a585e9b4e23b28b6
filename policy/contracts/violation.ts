import { z } from 'zod';
import { Sha256Hex } from './diff';

/** Result of a policy callback: an object with an optional message, never a bare boolean. */
export const PolicyCallbackResult = z.strictObject({
  passed: z.boolean(),
  message: z.string().max(2000).nullable().default(null),
});
export type PolicyCallbackResult = z.infer<typeof PolicyCallbackResult>;

/** One policy triggered by one finding. Deterministic: contains no UUID and no time. */
export const PolicyViolation = z.strictObject({
  violationId: Sha256Hex,
  /** Position in `validatorFindings`. */
  findingIndex: z.int().min(0),
  validatorId: z.string(),
  policyKey: z.string(),
  /** The callback's message, a newline, the confirmation message. Used verbatim: nothing is interpolated. */
  message: z.string(),
  requiresConfirmation: z.boolean(),
  callbackResult: PolicyCallbackResult.nullable(),
  /** `human`: waits for an answer. `callback`: resolved by the callback. `hard`: rolls back without asking anyone. */
  need: z.enum(['human', 'callback', 'hard']),
  group: z.string(),
  /** How many different people must confirm. One more than the policy requires if it demands four eyes and the requester is unknown. */
  quorum: z.int().min(1),
  fourEyes: z.boolean(),
  deadlineMs: z.int().min(1),
});
export type PolicyViolation = z.infer<typeof PolicyViolation>;
