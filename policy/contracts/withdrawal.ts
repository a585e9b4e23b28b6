import { z } from 'zod';
import { Sha256Hex } from './diff';

/** Payload of `withdraw`: the requester withdraws the change. It can only cause a rollback, so it needs no signature. */
export const WithdrawMessage = z.strictObject({
  actor: z.string().min(1).max(200),
  reason: z.string().max(2000).default(''),
});
export type WithdrawMessage = z.infer<typeof WithdrawMessage>;

/** Payload of `supersede`: another change replaces this one. Answers are not carried over. */
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

/** Payload of `resolve`: the finding of the operator about an effect that could not be determined automatically. */
export const ResolveMessage = z.strictObject({ note: z.string().max(2000).default('') });
export type ResolveMessage = z.infer<typeof ResolveMessage>;
