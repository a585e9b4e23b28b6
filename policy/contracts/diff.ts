import { z } from 'zod';
import type { JsonValue } from './canonical-json';
import { metadataProblem } from './metadata-problem';
import type { Sha256 } from './hash';
import { BASE64, MAX_INLINE_BYTES, NAME, SHA256_HEX } from './limits';

export { MAX_DIFF_BYTES, MAX_INLINE_BYTES, MAX_METADATA_BYTES } from './limits';

export const Sha256Hex = z.string().regex(SHA256_HEX.pattern, `expected ${SHA256_HEX.expected}`);
export const Name = z.string().regex(NAME.pattern, `expected ${NAME.expected}`);

const Json: z.ZodType<JsonValue> = z.json();

/** The caller's claim about the diff (F8, F11): rules read it, and compare it with what bytes and dry run show. */
export const Metadata = z.record(z.string().min(1).max(128), Json).superRefine((metadata, ctx) => {
  const problem = metadataProblem(metadata);
  if (problem !== null) ctx.addIssue({ code: 'custom', message: problem });
});
export type Metadata = z.infer<typeof Metadata>;

/** Padded standard base64. Not z.base64(): it asks `atob`, which the workflow sandbox does not have. */
export const Base64 = z
  .string()
  .regex(BASE64.pattern, `expected ${BASE64.expected}`)
  .refine((text) => text.length % 4 === 0, `expected ${BASE64.expected}`);

/** A DSSE envelope on the wire; `policy/evidence/dsse.ts` says what is signed. */
export const Envelope = z.strictObject({
  payloadType: z.string().min(1).max(200),
  payload: Base64.max(256 * 1024),
  signatures: z
    .array(z.strictObject({ keyid: z.string().min(1).max(200), sig: Base64.min(1).max(4096) }))
    .min(1)
    .max(4),
});
export type Envelope = z.infer<typeof Envelope>;

/** Where the signal `commit` or `rollback` goes when the change is decided. Outside `inputSha`: it changes nothing that is reviewed. */
export const ReplyTo = z.strictObject({
  workflowId: z.string().min(1).max(1000),
  runId: z.string().max(200).optional(),
});

/**
 * The start input of the workflow `review`: what an agent backend submits. It carries no plan (records.md §2).
 * `inline` holds the bytes as base64 for backends that only speak Temporal; accepted where the target sets `inlineBytes`.
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

/** What a validator reads (checklist, Types): opaque bytes, dispatched on `sourceTool`. */
export interface DiffInput {
  readonly sourceTool: string;
  readonly raw: Uint8Array;
  readonly diffSha: Sha256;
  readonly metadata: Metadata;
}
