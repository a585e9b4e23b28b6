import type { JsonObject } from '../../policy/contracts/canonical-json';
import { ReceiptPredicate } from '../../policy/contracts/outcome';
import { Envelope, type Submission } from '../../policy/contracts/diff';
import type { LedgerKind, LedgerRow } from '../../policy/contracts/ledger';
import { StagingRecord } from '../../policy/contracts/staging-record';
import { toBase64 } from '../../policy/evidence/base64';
import {
  EVIDENCE_FORMAT,
  withChecksum,
  type Evidence,
  type EvidenceBundle,
  type HistoryDigest,
} from '../../policy/evidence/bundle';
import type { ByteStore } from '../../policy/evidence/byte-store';
import type { LedgerReader } from '../../policy/evidence/ledger-port';
import { recordedFindings } from '../../policy/evidence/recorded-findings';
import { signerIds } from '../../signing/verify-review/registry-entries';
import { invalid, policyMoved } from '../../policy/contracts/failure';
import type { KeyEnvelopeReader } from '../../storage/keys/key-envelopes';
import type { InclusionReader } from '../../storage/ledger/inclusion';
import type { PlanSourceDeps } from '../../storage/plans/plan-source';
import type { PublishedPolicies } from '../../storage/plans/stored-revisions';
import { submissionIn } from '../rows';

export interface EvidenceSources {
  readonly ledger: Pick<LedgerReader, 'read'>;
  readonly store: Pick<ByteStore, 'get' | 'has'>;
  readonly previews: { readonly preview: (changeId: string, staging: StagingRecord) => Promise<JsonObject | null> };
  readonly keys: KeyEnvelopeReader;
  readonly inclusion: InclusionReader;
  readonly policy: PublishedPolicies & Pick<PlanSourceDeps, 'verifyRevision' | 'verifyRevocation'>;
  /** Null if Temporal no longer has the history. */
  readonly history: (changeId: string) => Promise<HistoryDigest | null>;
}

/**
 * Collects everything that is known about one change, open or closed, into the file that `countersign verify` and
 * `verifiedReview` read. Without `bytes`, it has neither the diff nor the rows of the preview. Verifies nothing. Fails with
 * VALIDATION_ERROR if the change has no rows, and with `policy_moved` if its policy revision or plan is not stored.
 */
export async function exportEvidence(
  sources: EvidenceSources,
  changeId: string,
  options: CollectOptions,
): Promise<EvidenceBundle> {
  return withChecksum(await collectEvidence(sources, changeId, options));
}

interface CollectOptions {
  readonly bytes: boolean;
  readonly preview?: boolean;
}

/** As `exportEvidence`, without the checksum: for a caller that verifies it in this process. */
export async function collectEvidence(
  sources: EvidenceSources,
  changeId: string,
  options: CollectOptions,
): Promise<Evidence> {
  const stored = await sources.ledger.read(changeId);
  const last = stored.at(-1);
  if (last === undefined)
    throw invalid('changeId', 'a change that the ledger knows', changeId, 'List them with "countersign list"');
  const rows = stored.map(({ row }) => row);
  const body = (kind: LedgerKind): LedgerRow['body'] | undefined => rows.find((row) => row.kind === kind)?.body;
  const submission = submissionIn(stored);
  const policy = await policyOf(sources.policy, body('planned'), submission);
  const end = ReceiptPredicate.safeParse(body('receipt')?.['predicate']).data ?? null;
  const staging = stagingOf(rows, end);
  const signers = await sources.keys.envelopesOf(signerIds(submission, rows));
  const keys = [...signers].sort((a, b) => (a.keyId < b.keyId ? -1 : 1)).map(({ registration }) => registration);
  const closed = body('closed') !== undefined;
  const raw = options.bytes && submission !== null ? await diffOf(sources.store, submission, closed) : null;
  const shown = options.bytes && options.preview !== false && staging !== null && staging.previewSha !== null;
  return {
    format: EVIDENCE_FORMAT,
    changeId,
    submission,
    bytes: raw === null ? null : toBase64(raw),
    policy,
    staging,
    preview: shown ? await sources.previews.preview(changeId, staging) : null,
    findings: policy === null ? [] : [...recordedFindings({ plan: policy.plan, changeId, rows, end })],
    receipt: Envelope.safeParse(body('receipt')?.['envelope']).data ?? null,
    rows: stored.map(({ row, hash }) => ({ row, hash })),
    head: { rows: stored.length, hash: last.hash },
    inclusion: await sources.inclusion.covering(changeId, stored.length),
    keys,
    history: await sources.history(changeId),
    sha256: null,
  };
}

/** Null if the review is closed and its diff was deleted by `countersign archive`. */
async function diffOf(
  store: EvidenceSources['store'],
  { tenant, diffSha }: Submission,
  closed: boolean,
): Promise<Uint8Array | null> {
  if (closed && !(await store.has(tenant, diffSha))) return null;
  return await store.get(tenant, diffSha);
}

/** The pinned revision, even if it was revoked since: the evidence file then contains the revocation. */
async function policyOf(
  policies: EvidenceSources['policy'],
  planned: LedgerRow['body'] | undefined,
  submission: Submission | null,
): Promise<EvidenceBundle['policy']> {
  if (planned === undefined || submission === null) return null;
  const { planHash, revision } = planned;
  const [found, revocations, plan] = await Promise.all([
    policies.revision(Number(revision)),
    policies.revocations(),
    policies.plan(String(planHash)),
  ]);
  if (found === null || policies.verifyRevision(found)?.revision !== revision)
    throw policyMoved(
      `Policy revision ${String(revision)}, which this change pinned, is not stored with the signature of a trusted operator`,
    );
  if (plan === null)
    throw policyMoved(`Plan ${String(planHash)}, which this change pinned, is not stored; publish its bundle again`);
  const revocation = revocations.find((stored) => policies.verifyRevocation(stored)?.revision === revision);
  return { plan, revision: found.envelope, bundleText: found.bundleText, revocation: revocation?.envelope ?? null };
}

/** The record of the dry run that the receipt names; without a receipt, the one that was disclosed, or else the last. */
function stagingOf(rows: readonly LedgerRow[], end: ReceiptPredicate | null): StagingRecord | null {
  const staged = rows.filter((row) => row.kind === 'staged' && row.body['rejected'] !== true);
  const disclosed = rows.find((row) => row.kind === 'disclosed');
  const open = disclosed === undefined ? staged.at(-1)?.body['stagingSha'] : disclosed.body['stagingSha'];
  const sha = end === null ? open : end.stagingSha;
  return StagingRecord.safeParse(staged.find((row) => row.body['stagingSha'] === sha)?.body['record']).data ?? null;
}
