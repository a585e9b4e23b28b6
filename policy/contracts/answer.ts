import { z } from 'zod';
import { Envelope, Sha256Hex } from './diff';

export const MAX_ANSWERS_PER_MESSAGE = 50;

export const Decision = z.enum(['confirm', 'reject']);
export type Decision = z.infer<typeof Decision>;

const IsoTime = z.iso.datetime();
const Reason = z.string().max(2000);

/** What an approver signs (records.md §6). Every member is bound: another diff, plan, finding or target needs another answer. */
export const AnswerPredicate = z.strictObject({
  changeId: Sha256Hex,
  fingerprint: Sha256Hex,
  violationId: Sha256Hex,
  decision: Decision,
  reason: Reason,
  keyId: z.string().min(1).max(200),
  context: z.strictObject({
    tenant: z.string(),
    target: z.string(),
    environment: z.enum(['development', 'production']),
  }),
  /** Share of the diff that was on screen; null outside the web inbox. */
  coverage: z.number().min(0).max(1).nullable(),
  nonce: z.string().min(16).max(100),
  issuedAt: IsoTime,
  expiresAt: IsoTime,
});
export type AnswerPredicate = z.infer<typeof AnswerPredicate>;

/** A plain JSON answer: only where the plan says `answers: unsigned` (development targets). `actor` is what the caller says. */
export const UnsignedAnswer = z.strictObject({
  violationId: Sha256Hex,
  fingerprint: Sha256Hex,
  decision: Decision,
  reason: Reason.default(''),
  actor: z.string().min(1).max(200),
});
export type UnsignedAnswer = z.infer<typeof UnsignedAnswer>;

/** Payload of `answer`, as update and as signal. Keyed by violation inside; there is no form by position (T58). */
export const AnswerMessage = z.strictObject({
  answers: z
    .array(z.union([Envelope, UnsignedAnswer]))
    .min(1)
    .max(MAX_ANSWERS_PER_MESSAGE),
});
export type AnswerMessage = z.infer<typeof AnswerMessage>;

/** Why an answer was not counted. `duplicate` is no refusal: the same answer again changes nothing. */
export const AnswerCode = z.enum([
  'accepted',
  'duplicate',
  'malformed',
  'too_early',
  'closed',
  'unknown_violation',
  'needs_no_answer',
  'wrong_fingerprint',
  'wrong_context',
  'unsigned_not_accepted',
  'unknown_key',
  'revoked_key',
  'demo_key',
  'bad_signature',
  'not_eligible',
  'expired',
  'nonce_reused',
  'contradicts',
  'too_many_refusals',
]);
export type AnswerCode = z.infer<typeof AnswerCode>;

export const AnswerResult = z.strictObject({ code: AnswerCode, message: z.string() });
export type AnswerResult = z.infer<typeof AnswerResult>;

/** By violation id; an answer from which none could be read is keyed `#0`, `#1` … by its place in the message. */
export const AnswerResults = z.record(z.string(), AnswerResult);
export type AnswerResults = z.infer<typeof AnswerResults>;

/** An answer that was admitted: what `decide` counts. The envelope itself stands in the ledger. */
export const AdmittedAnswer = z.strictObject({
  violationId: Sha256Hex,
  fingerprint: Sha256Hex,
  decision: Decision,
  /** The person behind the key, or the claimed actor of an unsigned answer. One person with two keys counts once. */
  person: z.string().min(1),
  signed: z.boolean(),
  reason: z.string(),
  admittedAt: IsoTime,
  /** SHA-256 of the canonical answer as it was sent; the same digest again is a duplicate. */
  digest: Sha256Hex,
});
export type AdmittedAnswer = z.infer<typeof AdmittedAnswer>;
