import { z } from 'zod';
import { Sha256Hex } from './diff';

export { MAX_VIOLATIONS } from './limits';

/** V1: no bare boolean (V2). `threw` tells a callback that could not be evaluated (V26) from one that said no. */
export const PolicyCallbackResult = z.strictObject({
  passed: z.boolean(),
  message: z.string().max(2000).nullable().default(null),
});
export type PolicyCallbackResult = z.infer<typeof PolicyCallbackResult>;

/** One policy that one finding triggered. Deterministic: no UUID, no clock but `deadlineAt`, which `disclose` sets. */
export const PolicyViolation = z.strictObject({
  violationId: Sha256Hex,
  /** Position in `validatorFindings`. */
  findingIndex: z.int().min(0),
  validatorId: z.string(),
  policyKey: z.string(),
  /** The callback's reason, a newline, the confirmation message (T55). Used verbatim: nothing is interpolated. */
  message: z.string(),
  requiresConfirmation: z.boolean(),
  callbackResult: PolicyCallbackResult.nullable(),
  /** `human`: waits for an answer. `callback`: resolved by the callback. `hard`: rolls back, nobody asked. */
  need: z.enum(['human', 'callback', 'hard']),
  group: z.string(),
  /** How many different people must confirm; one more than the policy says where four eyes are asked and the requester is unknown. */
  quorum: z.int().min(1),
  fourEyes: z.boolean(),
  deadlineMs: z.int().min(1),
});
export type PolicyViolation = z.infer<typeof PolicyViolation>;
