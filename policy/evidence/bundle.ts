/**
 * The evidence file of one review, which `countersign verify` checks without network and database.
 *
 * B1 The file is the canonical JSON of the bundle followed by one newline; any other encoding is refused.
 * B2 Every member is bound by a signature, by the chain of ledger rows, or by a hash in one of them. Only `history` is an
 *    unverified statement of the exporter.
 * B3 `sha256` detects a damaged file. It does not protect against a forger, and no check relies on it. It is computed when a bundle leaves
 *    the process; a bundle that is verified in the process that collected it has none.
 */
import { z } from 'zod';
import { canonicalJson, canonicalJsonOrNull, isJsonObject, type JsonObject } from '../contracts/canonical-json';
import { Base64, Envelope, MAX_DIFF_BYTES, Sha256Hex, Submission } from '../contracts/diff';
import { ValidatorFinding } from '../contracts/finding';
import { sha256HexOfText, type Sha256 } from '../contracts/hash';
import { LedgerRow } from '../contracts/ledger';
import { Plan } from '../contracts/plan';
import { StagingRecord } from '../contracts/staging-record';
import { jsonOf } from '../text/json-of';
import { decodeUtf8 } from '../text/utf8';

export const EVIDENCE_FORMAT = 'countersign-evidence/v1';
/** Larger files are refused unread. */
export const MAX_EVIDENCE_BYTES = 64 * 1024 * 1024;
const MAX_ROWS = 10_000;

const Inclusion = z.strictObject({
  /** The signed head of the Merkle tree over all ledger rows. */
  checkpoint: Envelope,
  /** One entry for each row, in row order: its leaf index and its inclusion proof. */
  leaves: z.array(z.strictObject({ leaf: z.int().min(0), proof: z.array(Sha256Hex).max(64) })).max(MAX_ROWS),
});

/**
 * How a key came into the registry, and its revocation. An Ed25519 key: the entry that an operator signed. A passkey: the one-time link
 * that an operator signed, and the statement of the link's key.
 */
export const KeyRegistration = z.union([
  z.strictObject({ entry: Envelope, revocation: Envelope.nullable() }),
  z.strictObject({ enrollment: Envelope, passkey: Envelope, revocation: Envelope.nullable() }),
]);
export type KeyRegistration = z.infer<typeof KeyRegistration>;

/** `z.custom`, not `z.record`: that would copy the object and drop a member named `__proto__`. */
const EvidenceRow = LedgerRow.extend({ body: z.custom<LedgerRow['body']>(isJsonObject, 'expected an object') });

export const EvidenceBundle = z.strictObject({
  format: z.literal(EVIDENCE_FORMAT),
  changeId: Sha256Hex,
  /** As in the row `submitted`; null for a change that was rolled back before it was opened. */
  submission: Submission.omit({ inline: true }).nullable(),
  /** The diff bytes in base64 if the export included them; `submission.diffSha` binds them. */
  bytes: Base64.max(Math.ceil(MAX_DIFF_BYTES / 3) * 4).nullable(),
  /** The pinned plan and the signed policy revision that lists its hash. Null if no plan was pinned. */
  policy: z
    .strictObject({
      plan: Plan,
      revision: Envelope,
      bundleText: z.string().max(4 * 1024 * 1024),
      revocation: Envelope.nullable(),
    })
    .nullable(),
  /** The dry run that the decision is based on. */
  staging: StagingRecord.nullable(),
  /** Rows before and after of that dry run, for people; `staging.previewSha` binds them. Null if the dry run has none, or if they were left out. */
  preview: z.custom<JsonObject>(isJsonObject, 'expected an object or null').nullable(),
  /** `validatorFindings` in declared order, as `recordedFindings` reads them from the rows. */
  findings: z.array(ValidatorFinding).max(MAX_ROWS),
  /** Signed by the committer. Null before the end; then the bundle does not prove how the change ended. */
  receipt: Envelope.nullable(),
  /** Every ledger row of the change, with attested records, answers and disclosed findings as they were signed. */
  rows: z
    .array(z.strictObject({ row: EvidenceRow, hash: Sha256Hex }))
    .min(1)
    .max(MAX_ROWS),
  /** Count and hash of the last row. */
  head: z.strictObject({ rows: z.int().min(1), hash: Sha256Hex }),
  /** Null until a checkpoint covers every row. */
  inclusion: Inclusion.nullable(),
  /** The signed registry entry of each key that signed a submission, record or answer, ordered by key id. */
  keys: z.array(KeyRegistration).max(MAX_ROWS),
  /** SHA-256 of the canonical JSON of the workflow history; null if Temporal no longer had it. */
  history: z.strictObject({ runId: z.string().min(1).max(200), events: z.int().min(1), sha256: Sha256Hex }).nullable(),
  sha256: Sha256Hex,
});
export type EvidenceBundle = z.infer<typeof EvidenceBundle>;
/** A bundle whose checksum is null if this process collected it and has not sent or written it. `parseEvidence` requires a checksum. */
export type Evidence = Omit<EvidenceBundle, 'sha256'> & { readonly sha256: Sha256 | null };
export type EvidenceInclusion = z.infer<typeof Inclusion>;
export type HistoryDigest = NonNullable<EvidenceBundle['history']>;

/** SHA-256 of the canonical JSON of the bundle without its `sha256` member. */
export function evidenceChecksum(bundle: Omit<EvidenceBundle, 'sha256'> & { readonly sha256?: unknown }): Sha256 {
  const { sha256: _own, ...rest } = bundle;
  return sha256HexOfText(canonicalJson(rest));
}

/** The bundle with its checksum, to send or to write. */
export function withChecksum(evidence: Evidence): EvidenceBundle {
  const { sha256 } = evidence;
  return { ...evidence, sha256: sha256 ?? evidenceChecksum(evidence) };
}

/** Serializes a bundle. Throws TypeError naming the invalid member if `parseEvidence` could not read the result. */
export function evidenceText(bundle: Omit<EvidenceBundle, 'sha256'>): string {
  const text = `${canonicalJson({ ...bundle, sha256: evidenceChecksum(bundle) })}\n`;
  const read = parseEvidence(text);
  if (!read.ok) throw new TypeError(`Invalid evidence bundle: ${read.problem}`);
  return text;
}

type ParsedEvidence =
  | { readonly ok: true; readonly bundle: EvidenceBundle }
  /** `isEvidence`: the file says that it is evidence of this format, so it was changed or damaged, not mistaken for one. */
  | { readonly ok: false; readonly isEvidence: boolean; readonly problem: string };

/** Parses a bundle strictly (B1). Never throws. Verifies no signature and no hash. */
export function parseEvidence(file: string | Uint8Array): ParsedEvidence {
  const refuse = (problem: string, isEvidence = false): ParsedEvidence => ({ ok: false, isEvidence, problem });
  if (file.length > MAX_EVIDENCE_BYTES)
    return refuse(`expected at most ${MAX_EVIDENCE_BYTES} bytes, got ${file.length}`);
  const text = typeof file === 'string' ? file : decodeUtf8(file);
  if (text === null) return refuse('the file is not UTF-8');
  const value = jsonOf(text);
  if (value === undefined) return refuse('the file is not valid JSON, or it was truncated or changed');
  if (!isJsonObject(value) || value['format'] !== EVIDENCE_FORMAT)
    return refuse(`the JSON is not an object with "format": "${EVIDENCE_FORMAT}"`);
  const parsed = EvidenceBundle.safeParse(value);
  if (!parsed.success) {
    const issues = parsed.error.issues
      .slice(0, 5)
      .map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`);
    return refuse(`not in the format ${EVIDENCE_FORMAT}: ${issues.join('; ')}`, true);
  }
  const canonical = canonicalJsonOrNull(parsed.data);
  if (canonical === null || `${canonical}\n` !== text)
    return refuse('the file is not in canonical JSON (RFC 8785) followed by one newline', true);
  return { ok: true, bundle: parsed.data };
}
