import { utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { isWellFormed } from '../policy/contracts/canonical-json';
import {
  MAX_DIFF_BYTES,
  MAX_INLINE_BYTES,
  Metadata,
  Name,
  ReplyTo,
  Sha256Hex,
  type Submission,
} from '../policy/contracts/diff';
import { changeId, inputSha } from '../policy/contracts/change-id';
import { sha256Hex } from '../policy/contracts/hash';
import { toBase64 } from '../policy/evidence/base64';
import { statementOf } from '../policy/evidence/statement';
import { newNonce } from '../signing/nonce';
import { describe, invalidInput } from './errors';
import { parseInput } from './parse';
import type { Signer } from './signer';

/** Input of `submit`. `raw` is opaque; a string is encoded as UTF-8. Submitting the same change again joins its review, unless `requestKey` differs. */
export interface SubmitInput {
  /** A target of the policy, which also lists its source tools. */
  readonly target: string;
  readonly sourceTool: string;
  readonly raw: Uint8Array | string;
  /** What the requester claims about the change, at most 16 KiB of JSON. Rules compare `affected_rows` and `table_name` with the bytes. */
  readonly metadata?: Metadata;
  /** Default `''`. The same change under another key, of at most 200 characters, is another review. */
  readonly requestKey?: string;
  /** A workflow that receives the signal `commit` or `rollback` with the receipt. */
  readonly replyTo?: { readonly workflowId: string; readonly runId?: string };
  /** Send the bytes in the start input instead of the store: at most 64 KiB, and only if the target sets `inlineBytes`. */
  readonly inline?: boolean;
  /**
   * The changeId of the change that this one replaces: an open one of the same requester, target and source tool. Any other stays as it
   * is, and this change is reviewed all the same.
   */
  readonly supersedes?: string;
}

/** A submission that is validated and hashed, but not sent. */
export interface PreparedSubmission {
  readonly changeId: string;
  readonly inputSha: string;
  readonly bytes: Uint8Array;
  readonly submission: Submission;
}

const Fields = z.strictObject({
  target: Name,
  sourceTool: Name,
  raw: z.unknown(),
  metadata: Metadata.optional(),
  requestKey: z.string().max(200).optional(),
  replyTo: ReplyTo.optional(),
  inline: z.boolean().optional(),
  supersedes: Sha256Hex.optional(),
});

const WHAT_TO_DO = 'See SubmitInput. Nothing was sent';

/** Validates and hashes a submission. Throws `invalid_input`, and sends nothing. */
export function prepareSubmission(input: SubmitInput, tenant: string): PreparedSubmission {
  const fields = parseInput(Fields, input, WHAT_TO_DO);
  const bytes = toBytes(input.raw);
  if (fields.inline === true && bytes.length > MAX_INLINE_BYTES) {
    throw invalidInput(
      'raw',
      `at most ${MAX_INLINE_BYTES} bytes inline`,
      `${bytes.length}`,
      'Omit `inline`, so that the bytes are uploaded to the store',
    );
  }
  const submission: Submission = {
    tenant: parseInput(z.object({ tenant: Name }), { tenant }, 'Set `tenant` in the options of the client').tenant,
    target: fields.target,
    sourceTool: fields.sourceTool,
    diffSha: sha256Hex(bytes),
    metadata: fields.metadata ?? {},
    requestKey: fields.requestKey ?? '',
    ...(fields.inline === true ? { inline: toBase64(bytes) } : {}),
    ...(fields.replyTo === undefined ? {} : { replyTo: fields.replyTo }),
    ...(fields.supersedes === undefined ? {} : { supersedes: fields.supersedes }),
  };
  return { changeId: changeId(submission), inputSha: inputSha(submission), bytes, submission };
}

/** Adds the signed submission statement, by which the requester is known and excluded from answering. */
export function signSubmission(prepared: PreparedSubmission, signer: Signer, issuedAt: Date): Submission {
  const statement = statementOf('submission', {
    changeId: prepared.changeId,
    inputSha: prepared.inputSha,
    keyId: signer.keyId,
    onBehalfOf: signer.onBehalfOf,
    supersedes: prepared.submission.supersedes ?? null,
    nonce: newNonce(),
    issuedAt: issuedAt.toISOString(),
  });
  return { ...prepared.submission, envelope: signer.sign(statement) };
}

function toBytes(raw: unknown): Uint8Array {
  const bytes = typeof raw === 'string' ? utf8Strict(raw) : raw;
  if (!isBytes(bytes))
    throw invalidInput('raw', 'a string or Uint8Array', describe(raw), 'Pass the exact bytes of the diff');
  if (bytes.length === 0) throw invalidInput('raw', 'at least one byte', '0 bytes', 'There is nothing to review');
  if (bytes.length > MAX_DIFF_BYTES)
    throw invalidInput('raw', `at most ${MAX_DIFF_BYTES} bytes`, `${bytes.length}`, 'Split the change');
  // A copy: the caller may modify its buffer during hashing and upload.
  return Uint8Array.from(bytes);
}

// Not instanceof, so that a Buffer or an array of another realm is accepted.
function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === '[object Uint8Array]';
}

function utf8Strict(text: string): Uint8Array {
  if (!isWellFormed(text))
    throw invalidInput(
      'raw',
      'well-formed text',
      'a lone surrogate',
      'Pass bytes, or well-formed text: UTF-8 cannot encode a lone surrogate',
    );
  return utf8ToBytes(text);
}
