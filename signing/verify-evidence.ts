import type { ReceiptPredicate } from '../policy/contracts/outcome';
import { fromBase64 } from '../policy/evidence/base64';
import { parseEvidence, type Evidence, type EvidenceBundle } from '../policy/evidence/bundle';
import { assertPublicKey } from './key-id';
import { publicKeyOf } from './operator-key';
import { isMet, verifyReview } from './verify-review';
import { CHECKS } from './verify-review/checks';
import {
  RECORD_ONLY,
  type CheckResult,
  type EvidenceTrust,
  type ReviewRecord,
  type Supplied,
} from './verify-review/record';

export type { EvidenceTrust } from './verify-review/record';

export interface EvidenceReport {
  /**
   * `unverified`: everything else passes, but there is no receipt of how the review ended. `incomplete`: there is one, but the rows do
   * not reach the signed head of the change. Rely on `verified` only.
   */
  readonly verdict: 'verified' | 'unverified' | 'incomplete' | 'failed';
  readonly changeId: string | null;
  /** From the receipt; null if there is none signed by a trusted committer. */
  readonly outcome: Pick<ReceiptPredicate, 'action' | 'state' | 'reason' | 'mode' | 'at'> | null;
  /** Whether a signed checkpoint covers every row. If not, order, times and completeness of the rows depend on the exporter. */
  readonly witnessed: boolean;
  readonly checks: readonly CheckResult[];
}

/** Verifies an evidence file without network, database or clock. Throws TypeError for a malformed trusted key, never for file contents. */
export function verifyEvidence(file: string | Uint8Array, trust: EvidenceTrust): EvidenceReport {
  [...trust.operators.map(publicKeyOf), ...trust.committers].forEach(assertPublicKey);
  const parsed = parseEvidence(file);
  if (!parsed.ok) return unreadable(parsed.problem);
  const { bundle } = parsed;
  const { checks, facts } = verifyReview(recordOf(bundle), { ...RECORD_ONLY, context: 'evidence', trust });
  const { receipt } = facts;
  const verdict = verdictOf(bundle, checks);
  return {
    verdict,
    changeId: bundle.changeId,
    outcome:
      receipt === undefined
        ? null
        : { action: receipt.action, state: receipt.state, reason: receipt.reason, mode: receipt.mode, at: receipt.at },
    witnessed: bundle.inclusion !== null && verdict !== 'failed',
    checks,
  };
}

/** A review as an evidence file contains it. */
export function recordOf(bundle: Evidence): ReviewRecord {
  return {
    changeId: bundle.changeId,
    rows: bundle.rows,
    bytes: bundle.bytes === null ? null : decoded(bundle.bytes),
    plan: bundle.policy?.plan ?? null,
    staging: bundle.staging,
    preview: bundle.preview,
    asked: null,
    file: bundle,
  };
}

function decoded(base64: string): Supplied<Uint8Array> {
  const value = fromBase64(base64);
  return value === null ? { ok: false, explanation: 'the bytes are not canonical base64' } : { ok: true, value };
}

function unreadable(problem: string): EvidenceReport {
  const notMade = CHECKS.filter(({ contexts }) => !contexts.evidence.startsWith('omitted')).map(
    ({ name, contexts }): CheckResult => ({
      name,
      required: contexts.evidence === 'required',
      result: 'not_checked',
      detail: 'not checked, since the file could not be read',
    }),
  );
  const checks: CheckResult[] = [{ name: 'format', required: true, result: 'failed', detail: problem }, ...notMade];
  return { verdict: 'failed', changeId: null, outcome: null, witnessed: false, checks };
}

function verdictOf(bundle: EvidenceBundle, checks: readonly CheckResult[]): EvidenceReport['verdict'] {
  const unmet = checks.filter((check) => !isMet(check));
  if (unmet.length === 0) return 'verified';
  // No committer signs a receipt for a change that was never opened.
  if (bundle.receipt === null && !bundle.rows.some(({ row }) => row.kind === 'submitted')) return 'unverified';
  const hasHead = bundle.rows.some(({ row }) => row.kind === 'head');
  if (!hasHead && bundle.receipt !== null && unmet.every(({ name }) => name === 'head')) return 'incomplete';
  const needReceipt = unmet.every(({ name }) => NEED_A_RECEIPT.has(name));
  return bundle.receipt === null && !hasHead && needReceipt ? 'unverified' : 'failed';
}

/** Checks that require a receipt; those of an open review fail or cannot be made. */
const NEED_A_RECEIPT: ReadonlySet<string> = new Set([
  'receipt',
  'head',
  'bound_words',
  'settlement',
  'effect',
  'standing_reject',
  'withdrawal',
  'decision',
  'commit_window',
]);
