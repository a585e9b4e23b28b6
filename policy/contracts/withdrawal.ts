import { z } from 'zod';
import { Sha256Hex } from './diff';

/** Payload of `withdraw`: the requester takes the change back. Only ever rolls back, so no signature is asked. */
export const WithdrawMessage = z.strictObject({
  actor: z.string().min(1).max(200),
  reason: z.string().max(2000).default(''),
});
export type WithdrawMessage = z.infer<typeof WithdrawMessage>;

/** Payload of `supersede`: another change takes this one's place; it keeps no answer. */
export const SupersedeMessage = z.strictObject({
  by: Sha256Hex,
  actor: z.string().min(1).max(200),
  reason: z.string().max(2000).default(''),
});
export type SupersedeMessage = z.infer<typeof SupersedeMessage>;

/** What `withdraw` and `supersede` answer. `too_late`: the commit has begun, or the review is over. */
export const WithdrawResult = z.strictObject({
  code: z.enum(['accepted', 'duplicate', 'malformed', 'too_late']),
  message: z.string(),
});
export type WithdrawResult = z.infer<typeof WithdrawResult>;

/** Payload of `resolve`: what the committer's operator found out about an effect that nothing else can tell. */
export const ResolveMessage = z.strictObject({ note: z.string().max(2000).default('') });
export type ResolveMessage = z.infer<typeof ResolveMessage>;
