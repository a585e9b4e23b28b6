/**
 * One review as evidence: a file that is checked with no network and no database, years later (`countersign verify`).
 *
 * B1 One text: the file is the canonical JSON of the bundle and one newline; any other spelling is refused.
 * B2 Everything in it is bound: by a signature, by the chain of rows, by a hash that one of them names. `history` alone is
 *    the exporter's word, and says so.
 * B3 `sha256` finds a damaged file. It proves nothing against a forger, and no check rests on it.
 */
import { z } from 'zod';
import { canonicalJson } from '../contracts/canonical-json';
import { Base64, Envelope, MAX_DIFF_BYTES, Sha256Hex, Submission } from '../contracts/diff';
import { ValidatorFinding } from '../contracts/finding';
import { sha256HexOfText, type Sha256 } from '../contracts/hash';
import { LedgerRow } from '../contracts/ledger';
import { Plan } from '../contracts/plan';
import { StagingRecord } from '../contracts/staging-record';

export const EVIDENCE_FORMAT = 'countersign-evidence/v1';
/** Larger files are no bundle of ours. */
export const MAX_EVIDENCE_BYTES = 64 * 1024 * 1024;
const MAX_ROWS = 10_000;

const Inclusion = z.strictObject({
  /** The signed head of the Merkle tree over all ledger rows. */
  checkpoint: Envelope,
  /** One for each row, in its order: its leaf, and the hashes that lead from it to the root. */
  leaves: z.array(z.strictObject({ leaf: z.int().min(0), proof: z.array(Sha256Hex).max(64) })).max(MAX_ROWS),
});

export const EvidenceBundle = z.strictObject({
  format: z.literal(EVIDENCE_FORMAT),
  changeId: Sha256Hex,
  /** As in the row `submitted`; null for a change that was rolled back before it was opened. */
  submission: Submission.omit({ inline: true }).nullable(),
  /** The diff itself, where it was asked for; `submission.diffSha` binds it. */
  bytes: Base64.max(Math.ceil(MAX_DIFF_BYTES / 3) * 4).nullable(),
  /** The pinned plan, and the operator's signed revision that lists its hash. Null where no plan was pinned. */
  policy: z
    .strictObject({
      plan: Plan,
      revision: Envelope,
      bundleText: z.string().max(4 * 1024 * 1024),
      revocation: Envelope.nullable(),
    })
    .nullable(),
  /** The dry run that the decision rests on. */
  staging: StagingRecord.nullable(),
  /** `validatorFindings` in declared order, as `recordedFindings` reads them from the rows. */
  findings: z.array(ValidatorFinding).max(MAX_ROWS),
  /** Signed by the committer. Null while there is none: then nothing here says how the change ended. */
  receipt: Envelope.nullable(),
  /** Every ledger row of the change: attested records, answers and what was disclosed stand in them as they were signed. */
  rows: z
    .array(z.strictObject({ row: LedgerRow, hash: Sha256Hex }))
    .min(1)
    .max(MAX_ROWS),
  /** Count and hash of the last row. */
  head: z.strictObject({ rows: z.int().min(1), hash: Sha256Hex }),
  /** Null until a checkpoint covers every row. */
  inclusion: Inclusion.nullable(),
  /** The registry's signed entry of each key that signed submission, record or answer, by key id. */
  keys: z.array(z.strictObject({ entry: Envelope, revocation: Envelope.nullable() })).max(MAX_ROWS),
  /** SHA-256 of the canonical JSON of the workflow's history; null when Temporal had it no more. */
  history: z.strictObject({ runId: z.string().min(1).max(200), events: z.int().min(1), sha256: Sha256Hex }).nullable(),
  sha256: Sha256Hex,
});
export type EvidenceBundle = z.infer<typeof EvidenceBundle>;
export type EvidenceInclusion = z.infer<typeof Inclusion>;
export type EvidenceKey = EvidenceBundle['keys'][number];
export type HistoryDigest = NonNullable<EvidenceBundle['history']>;

export function evidenceChecksum(bundle: Omit<EvidenceBundle, 'sha256'> & { readonly sha256?: unknown }): Sha256 {
  const { sha256: _own, ...rest } = bundle;
  return sha256HexOfText(canonicalJson(rest));
}

/** The file's text. Throws TypeError naming the member where it is no bundle that could be read back. */
export function evidenceText(bundle: Omit<EvidenceBundle, 'sha256'>): string {
  const text = `${canonicalJson({ ...bundle, sha256: evidenceChecksum(bundle) })}\n`;
  const read = parseEvidence(text);
  if (!read.ok) throw new TypeError(`The evidence would not read back: ${read.problem}`);
  return text;
}

export type ParsedEvidence =
  { readonly ok: true; readonly bundle: EvidenceBundle } | { readonly ok: false; readonly problem: string };

/** Reads a bundle strictly (B1). Never throws; makes no other check. */
export function parseEvidence(file: string | Uint8Array): ParsedEvidence {
  const refuse = (problem: string): ParsedEvidence => ({ ok: false, problem });
  if (file.length > MAX_EVIDENCE_BYTES)
    return refuse(`expected at most ${MAX_EVIDENCE_BYTES} bytes, got ${file.length}`);
  let text: string;
  let value: unknown;
  try {
    text = typeof file === 'string' ? file : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(file);
  } catch {
    return refuse('the file is not UTF-8');
  }
  try {
    value = JSON.parse(text);
  } catch {
    return refuse('the file is not JSON; it was cut off or changed');
  }
  const parsed = EvidenceBundle.safeParse(value);
  if (!parsed.success) {
    const issues = parsed.error.issues
      .slice(0, 5)
      .map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`);
    return refuse(`not in the format ${EVIDENCE_FORMAT}: ${issues.join('; ')}`);
  }
  if (canonicalOf(parsed.data) !== text)
    return refuse('the file is not the canonical JSON (RFC 8785) of what it says, and one newline');
  return { ok: true, bundle: parsed.data };
}

function canonicalOf(bundle: EvidenceBundle): string | null {
  try {
    return `${canonicalJson(bundle)}\n`;
  } catch {
    return null; // Lone surrogates, or nested deeper than anything of ours: no canonical text.
  }
}
