import { z } from 'zod';
import { Envelope, Sha256Hex } from './diff';
import type { LedgerRow } from './ledger';

export const MAX_ANSWERS_PER_MESSAGE = 50;

/** `retract` takes the same person's confirmation back, until the commit begins. A reject is final. */
export const Decision = z.enum(['confirm', 'reject', 'retract']);
export type Decision = z.infer<typeof Decision>;

const IsoTime = z.iso.datetime();
const Reason = z.string().max(2000);

/** A retraction, and only a retraction, names the confirmation that it takes back. */
const namesConfirmation = (answer: {
  readonly decision: Decision;
  readonly retracts?: string | null | undefined;
}): boolean => (answer.decision === 'retract') === ((answer.retracts ?? null) !== null);
const RETRACTS = 'expected `retracts` to be a digest if and only if the decision is `retract`';

/**
 * What an approver signs. Every member is bound: a different diff, plan, finding or target needs a new answer. Of each person and
 * violation the answer with the latest `issuedAt` counts.
 */
export const AnswerPredicate = z
  .strictObject({
    changeId: Sha256Hex,
    fingerprint: Sha256Hex,
    violationId: Sha256Hex,
    decision: Decision,
    /** Digest of the confirmation that a retraction takes back; null for other decisions. */
    retracts: Sha256Hex.nullable(),
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
  })
  .refine(namesConfirmation, RETRACTS);
export type AnswerPredicate = z.infer<typeof AnswerPredicate>;

/** A plain JSON answer, accepted only if the plan sets `answers: unsigned` (development targets). `actor` is an unverified claim. */
export const UnsignedAnswer = z
  .strictObject({
    violationId: Sha256Hex,
    fingerprint: Sha256Hex,
    decision: Decision,
    retracts: Sha256Hex.optional(),
    reason: Reason.default(''),
    actor: z.string().min(1).max(200),
  })
  .refine(namesConfirmation, RETRACTS);
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
 * What became of an answer. `duplicate` is not a refusal: the same answer again, or the same decision of the same person, is a no-op.
 * `contradicts`: the person has rejected this violation, which is final. `superseded`: the person has signed a later answer.
 * `counter_regressed`: a later assertion of the same passkey has a higher counter.
 * `sent`: no row of the ledger says what became of it; only clients report it.
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
  'counter_regressed',
  'contradicts',
  'superseded',
  'nothing_to_retract',
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
  /** The time that the person signed; the time of admission for an unsigned answer. */
  issuedAt: IsoTime,
  /** Digest of the confirmation that a retraction takes back; null for other decisions. */
  retracts: Sha256Hex.nullable(),
  admittedAt: IsoTime,
  /** SHA-256 of the canonical JSON of the answer as sent. A second answer with this digest is a duplicate. */
  digest: Sha256Hex,
});
export type AdmittedAnswer = z.infer<typeof AdmittedAnswer>;

/** An answer as its row has it. */
export type RecordedAnswer = Pick<LedgerRow, 'body' | 'at'>;

/** The answer of a row as admission wrote it, not verified. Null for a row that admission cannot have written. */
export function admittedIn({ body, at }: RecordedAnswer): AdmittedAnswer | null {
  const { violationId, fingerprint, decision, person, signed, reason, issuedAt, retracts, digest } = body;
  const answer = { violationId, fingerprint, decision, person, signed, reason, issuedAt, retracts, digest };
  return AdmittedAnswer.safeParse({ ...answer, admittedAt: at }).data ?? null;
}
