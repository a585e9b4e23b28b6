import { ReceiptPredicate } from '../../policy/contracts/outcome';
import { Envelope, Submission } from '../../policy/contracts/diff';
import type { LedgerKind, LedgerRow } from '../../policy/contracts/ledger';
import { StagingRecord } from '../../policy/contracts/staging-record';
import { toBase64 } from '../../policy/evidence/base64';
import {
  EVIDENCE_FORMAT,
  evidenceChecksum,
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

export interface EvidenceSources {
  readonly ledger: Pick<LedgerReader, 'read'>;
  readonly store: Pick<ByteStore, 'get'>;
  readonly keys: KeyEnvelopeReader;
  readonly inclusion: InclusionReader;
  readonly policy: Pick<PlanSourceDeps, 'revisions' | 'verifyRevision' | 'verifyRevocation' | 'compile'>;
  /** Null where Temporal has the history no more. */
  readonly history: (changeId: string) => Promise<HistoryDigest | null>;
}

/**
 * Everything that is known of one change, as `verify` reads it. It judges nothing: what does not fit is for `verify` to say.
 * Fails with VALIDATION_ERROR for a change without rows, and with `policy_moved` where this process cannot compile its plan.
 */
export async function exportEvidence(
  sources: EvidenceSources,
  changeId: string,
  options: { readonly bytes: boolean },
): Promise<EvidenceBundle> {
  const stored = await sources.ledger.read(changeId);
  const last = stored.at(-1);
  if (last === undefined)
    throw invalid('changeId', 'a change that the ledger knows', changeId, 'List them with "countersign list"');
  const rows = stored.map(({ row }) => row);
  const body = (kind: LedgerKind): LedgerRow['body'] | undefined => rows.find((row) => row.kind === kind)?.body;
  const submission = Submission.safeParse(body('submitted')?.['submission']).data ?? null;
  const policy = await policyOf(sources.policy, body('planned'), submission);
  const end = ReceiptPredicate.safeParse(body('receipt')?.['predicate']).data ?? null;
  const staging = stagingOf(rows, end);
  const signers = await sources.keys.envelopesOf(signerIds(submission, rows));
  const keys = [...signers]
    .sort((a, b) => (a.keyId < b.keyId ? -1 : 1))
    .map(({ entry, revocation }) => ({ entry, revocation }));
  const raw =
    options.bytes && submission !== null ? await sources.store.get(submission.tenant, submission.diffSha) : null;
  const bundle = {
    format: EVIDENCE_FORMAT,
    changeId,
    submission,
    bytes: raw === null ? null : toBase64(raw),
    policy,
    staging,
    findings: policy === null ? [] : [...recordedFindings({ plan: policy.plan, changeId, rows, end })],
    receipt: Envelope.safeParse(body('receipt')?.['envelope']).data ?? null,
    rows: stored.map(({ row, hash }) => ({ row, hash })),
    head: { rows: stored.length, hash: last.hash },
    inclusion: await sources.inclusion.covering(changeId, stored.length),
    keys,
    history: await sources.history(changeId),
  } as const;
  return { ...bundle, sha256: evidenceChecksum(bundle) };
}

/** The pinned revision, also where it was revoked since: the evidence holds the revocation. */
async function policyOf(
  { revisions, verifyRevision, verifyRevocation, compile }: EvidenceSources['policy'],
  planned: LedgerRow['body'] | undefined,
  submission: Submission | null,
): Promise<EvidenceBundle['policy']> {
  if (planned === undefined || submission === null) return null;
  const { planHash, revision } = planned;
  const [stored, revocations] = await Promise.all([revisions.list(), revisions.revocations()]);
  const found = stored.find(({ envelope, bundleText }) => verifyRevision(envelope, bundleText)?.revision === revision);
  if (found === undefined)
    throw policyMoved(
      `Policy revision ${String(revision)}, which this change pinned, is not stored here with the signature of a trusted operator`,
    );
  const made = compile(found.bundleText, submission.target, submission.sourceTool);
  if (made.planHash !== planHash)
    throw policyMoved(
      `Policy revision ${String(revision)} compiles here to ${made.planHash}, and the change pinned ${String(planHash)}: export with the version and the extensions that reviewed it`,
    );
  const revocation = revocations.find((envelope) => verifyRevocation(envelope)?.revision === revision) ?? null;
  return { plan: made.plan, revision: found.envelope, bundleText: found.bundleText, revocation };
}

/** From the row that holds it: the one that the receipt names; while there is none, what was disclosed, or the last. */
function stagingOf(rows: readonly LedgerRow[], end: ReceiptPredicate | null): StagingRecord | null {
  const staged = rows.filter((row) => row.kind === 'staged' && row.body['rejected'] !== true);
  const disclosed = rows.find((row) => row.kind === 'disclosed');
  const open = disclosed === undefined ? staged.at(-1)?.body['stagingSha'] : disclosed.body['stagingSha'];
  const sha = end === null ? open : end.stagingSha;
  return StagingRecord.safeParse(staged.find((row) => row.body['stagingSha'] === sha)?.body['record']).data ?? null;
}
