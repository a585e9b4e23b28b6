import { z } from 'zod';

/** Body of `POST /v1/reviews/:id/spent`: the nonce of one call of a guarded function. */
export const SpendMessage = z.strictObject({
  nonce: z.string().regex(/^[A-Za-z0-9_-]{16,64}$/, 'expected 16 to 64 of A-Z a-z 0-9 _ -'),
});
export type SpendMessage = z.infer<typeof SpendMessage>;

/** Whether this call may perform the effect: true for the nonce that came first, also if it is sent again, and for no other. */
export const SpendResult = z.strictObject({ spent: z.boolean(), message: z.string() });
export type SpendResult = z.infer<typeof SpendResult>;
