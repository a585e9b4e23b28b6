import { utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { canonicalJson, type JsonValue } from './canonical-json';
import { errorMessage } from './error-message';
import type { Sha256 } from './hash';
import { JsonObject } from './json-value';
import { MAX_INLINE_BYTES, MAX_METADATA_BYTES } from './limits';

export { MAX_DIFF_BYTES, MAX_INLINE_BYTES, MAX_METADATA_BYTES } from './limits';

export const Sha256Hex = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits');
export const Name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'expected 1 to 63 of A-Z a-z 0-9 . _ -');

/** The caller's unverified claims about the diff. Rules compare them with the bytes and the dry run. */
export const Metadata = JsonObject.superRefine((metadata, ctx) => {
  const problem = metadataProblem(metadata);
  if (problem !== null) ctx.addIssue({ code: 'custom', message: problem });
});
export type Metadata = z.infer<typeof Metadata>;

/** Why metadata is refused although it is a JSON object: it cannot be hashed, or is too large. Null if it is valid. */
function metadataProblem(metadata: Readonly<Record<string, JsonValue>>): string | null {
  for (const name of Object.keys(metadata))
    if (name === '' || name.length > 128) return 'expected member names of 1 to 128 characters';
  try {
    const size = utf8ToBytes(canonicalJson(metadata)).length;
    return size > MAX_METADATA_BYTES ? `expected at most ${MAX_METADATA_BYTES} bytes of JSON, got ${size}` : null;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Padded standard base64. Not z.base64(): it calls `atob`, which the workflow sandbox does not have. */
export const Base64 = z
  .string()
  .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'expected padded base64')
  .refine((text) => text.length % 4 === 0, 'expected padded base64');

/** Statements that one touch of a passkey can sign. */
const MAX_STATEMENTS_PER_TOUCH = 50;

/**
 * What a WebAuthn assertion signs besides the statement. `statements`: SHA-256 of the pre-authentication encoding of each statement that
 * was signed in that touch, in order; the challenge is a hash of this list (policy/evidence/passkey-challenge.ts).
 */
export const PasskeyAssertion = z.strictObject({
  statements: z
    .array(Sha256Hex)
    .min(1)
    .max(MAX_STATEMENTS_PER_TOUCH)
    .refine((list) => new Set(list).size === list.length, 'expected each statement once'),
  authenticatorData: Base64.min(1).max(1368),
  clientDataJSON: Base64.min(1).max(5464),
});
export type PasskeyAssertion = z.infer<typeof PasskeyAssertion>;

/**
 * A DSSE envelope. `policy/evidence/dsse.ts` defines the signed bytes. A signature with the member `passkey` was made by a WebAuthn
 * authenticator, and any other by an Ed25519 key.
 */
export const Envelope = z.strictObject({
  payloadType: z.string().min(1).max(200),
  payload: Base64.max(256 * 1024),
  signatures: z
    .array(
      z.strictObject({
        keyid: z.string().min(1).max(200),
        sig: Base64.min(1).max(4096),
        passkey: PasskeyAssertion.exactOptional(),
      }),
    )
    .min(1)
    .max(4),
});
export type Envelope = z.infer<typeof Envelope>;

/** The workflow that receives the signal `commit` or `rollback` after the decision. Not part of `inputSha`: it does not affect the review. */
export const ReplyTo = z.strictObject({
  workflowId: z.string().min(1).max(1000),
  runId: z.string().max(200).optional(),
});

/**
 * The start input of the workflow `review`: what an agent backend submits. The plan is not part of it: the server chooses it.
 * `inline` contains the bytes as base64, for backends without access to the store; accepted if the target sets `inlineBytes`.
 */
export const Submission = z.strictObject({
  tenant: Name,
  target: Name,
  sourceTool: Name,
  diffSha: Sha256Hex,
  metadata: Metadata.default({}),
  requestKey: z.string().max(200).default(''),
  inline: Base64.max(Math.ceil(MAX_INLINE_BYTES / 3) * 4).optional(),
  envelope: Envelope.optional(),
  replyTo: ReplyTo.optional(),
  /** The changeId that this one supersedes. */
  supersedes: Sha256Hex.optional(),
});
export type Submission = z.infer<typeof Submission>;

/** The submission without its inline bytes, which are in the byte store once the review is open. */
export function withoutInline(submission: Submission): Submission {
  const { inline: _inline, ...rest } = submission;
  return rest;
}

/** What a validator reads: opaque bytes and their source tool, by which the facts extractor is chosen. */
export interface DiffInput {
  readonly sourceTool: string;
  readonly raw: Uint8Array;
  readonly diffSha: Sha256;
  readonly metadata: Metadata;
}
