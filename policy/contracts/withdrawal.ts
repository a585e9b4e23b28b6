import { z } from 'zod';
import { Envelope, Sha256Hex } from './diff';

/**
 * Payload of `withdraw`: a statement of kind `withdraw`, signed by the service key that submitted the change, or by an approver of
 * its plan.
 */
export const WithdrawMessage = z.strictObject({ statement: Envelope });
export type WithdrawMessage = z.infer<typeof WithdrawMessage>;

/**
 * Payload of `supersede`: a signed statement of kind `supersede`; or the id of the change that replaces this one, if the signed
 * submission of that change names this one in `supersedes`. Answers are not carried over.
 */
export const SupersedeMessage = z.union([z.strictObject({ statement: Envelope }), z.strictObject({ by: Sha256Hex })]);
export type SupersedeMessage = z.infer<typeof SupersedeMessage>;

/**
 * What `withdraw` and `supersede` answer. `accepted` and `duplicate`: the ledger has the row, so the change cannot be committed.
 * `too_late`: the commit has begun, or the review is over. `sent`: the client has no ledger in which it could read the row. Every other
 * code is a refusal, recorded in the ledger.
 */
export const WithdrawCode = z.enum([
  'accepted',
  'duplicate',
  'sent',
  'malformed',
  'too_late',
  'not_open',
  'wrong_context',
  'unknown_key',
  'revoked_key',
  'demo_key',
  'bad_signature',
  'not_eligible',
  'not_yet_valid',
  'nonce_reused',
  'counter_regressed',
  'too_many_refusals',
]);
export type WithdrawCode = z.infer<typeof WithdrawCode>;

export const WithdrawResult = z.strictObject({ code: WithdrawCode, message: z.string() });
export type WithdrawResult = z.infer<typeof WithdrawResult>;

/** Why an open review ends without a decision. */
export interface Stopped {
  readonly reason: 'withdrawn' | 'superseded';
  /** For people, in plain text. */
  readonly explanation: string;
}
