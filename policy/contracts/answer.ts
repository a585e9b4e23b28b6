import { z } from 'zod';
import { Envelope, Sha256Hex } from './diff';

export const MAX_ANSWERS_PER_MESSAGE = 50;

export const Decision = z.enum(['confirm', 'reject']);
export type Decision = z.infer<typeof Decision>;

const IsoTime = z.iso.datetime();
const Reason = z.string().max(2000);

/** What an approver signs. Every member is bound: a different diff, plan, finding or target needs a new answer. */
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
  /** Fraction of the diff that was shown on screen, 0 to 1; null outside the web inbox. */
  coverage: z.number().min(0).max(1).nullable(),
  nonce: z.string().min(16).max(100),
  issuedAt: IsoTime,
  expiresAt: IsoTime,
});
export type AnswerPredicate = z.infer<typeof AnswerPredicate>;

/** A plain JSON answer, accepted only if the plan sets `answers: unsigned` (development targets). `actor` is an unverified claim. */
export const UnsignedAnswer = z.strictObject({
  violationId: Sha256Hex,
  fingerprint: Sha256Hex,
  decision: Decision,
  reason: Reason.default(''),
  actor: z.string().min(1).max(200),
});
export type UnsignedAnswer = z.infer<typeof UnsignedAnswer>;

/** Payload of `answer`, as update and as signal. Each answer names its violation; answers by position are not supported. */
export const AnswerMessage = z.strictObject({
  answers: z
    .array(z.union([Envelope, UnsignedAnswer]))
    .min(1)
    .max(MAX_ANSWERS_PER_MESSAGE),
});
export type AnswerMessage = z.infer<typeof AnswerMessage>;

/**
 * What became of an answer. `duplicate` is not a refusal: sending the same answer again is a no-op. `sent`: no row of the ledger
 * says what became of it; only clients report it.
 */
export const AnswerCode = z.enum([
  'sent',
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

/** Keyed by violation id. An answer whose violation id cannot be read is keyed by its position in the message: `#0`, `#1` … */
export const AnswerResults = z.record(z.string(), AnswerResult);
export type AnswerResults = z.infer<typeof AnswerResults>;

/** An admitted answer, as `decide` counts it. The signed envelope is in the ledger. */
export const AdmittedAnswer = z.strictObject({
  violationId: Sha256Hex,
  fingerprint: Sha256Hex,
  decision: Decision,
  /** The owner of the key, or the claimed actor of an unsigned answer. A person with two keys counts once. */
  person: z.string().min(1),
  signed: z.boolean(),
  reason: z.string(),
  admittedAt: IsoTime,
  /** SHA-256 of the canonical JSON of the answer as sent. A second answer with this digest is a duplicate. */
  digest: Sha256Hex,
});
export type AdmittedAnswer = z.infer<typeof AdmittedAnswer>;
