import { Envelope } from '../policy/contracts/diff';
import { ReceiptPredicate, type ReviewOutcome } from '../policy/contracts/outcome';
import { PolicyViolation } from '../policy/contracts/violation';
import type { Evidence } from '../policy/evidence/bundle';
import { verifiedReview, type Difference, type VerifiedReview } from '../signing/verified-review';
import type { EvidenceTrust } from '../signing/verify-evidence';
import { CountersignError } from './errors';
import type { ReceiptTrust } from './receipt';
import { toResult, type ReviewResult } from './result';

/** Verifies a bundle. Throws `not_verified`, which says what differs, also if the caller trusts no one. */
export function readReview(changeId: string, bundle: Evidence, trust: ReceiptTrust | null): VerifiedReview {
  const roots = requireTrust(trust);
  if (bundle.changeId !== changeId)
    throw new CountersignError('not_verified', `Expected the review ${changeId}, got ${bundle.changeId}`);
  const verdict = verifiedReview(bundle, roots, new Date().toISOString());
  if (verdict.ok) return verdict.review;
  throw new CountersignError(
    'not_verified',
    `Review ${changeId} does not verify, so it is not shown and cannot be answered.\n${differencesText(verdict.differences)}`,
  );
}

/**
 * The end of a review from its bundle; null if it is open. It is `verified` only if everything in the bundle verifies, or, for a
 * client that trusts no operators, the receipt.
 */
export function readResult(changeId: string, bundle: Evidence, trust: ReceiptTrust | null): ReviewResult | null {
  const claimed = claimedOutcome(bundle);
  if (claimed === null) return null;
  // The receipt binds every word of the outcome; without operators nothing else can be verified.
  if (!hasRoots(trust)) return toResult(changeId, claimed, trust);
  const verdict =
    bundle.changeId === changeId
      ? verifiedReview(bundle, trust, new Date().toISOString())
      : { ok: false as const, differences: [{ name: 'changeId', detail: `got the review ${bundle.changeId}` }] };
  if (!verdict.ok) return unproved(toResult(changeId, claimed, trust), differencesText(verdict.differences));
  const { outcome } = verdict.review;
  return outcome === null ? null : toResult(changeId, outcome, trust);
}

function requireTrust(trust: ReceiptTrust | null): EvidenceTrust {
  if (hasRoots(trust)) return trust;
  throw new CountersignError(
    'not_verified',
    'This client has no trusted operator and committer keys, so it can verify nothing. Set `trust`',
  );
}

/** Whether reviews can be verified at all. */
export function hasRoots(trust: ReceiptTrust | null): trust is EvidenceTrust {
  return trust !== null && trust.committers.length > 0 && (trust.operators?.length ?? 0) > 0;
}

function differencesText(differences: readonly Difference[]): string {
  return differences.map(({ name, detail }) => `${name}: ${detail}`).join('\n');
}

function unproved(result: ReviewResult, why: string): ReviewResult {
  return result.state === 'PENDING' || result.state === 'ABORTED' ? result : { ...result, verified: false, why };
}

/** The outcome as the rows state it. Not verified. */
function claimedOutcome(bundle: Evidence): ReviewOutcome | null {
  const row = bundle.rows.find(({ row: { kind } }) => kind === 'receipt')?.row;
  const predicate = ReceiptPredicate.safeParse(row?.body['predicate']);
  if (row === undefined || !predicate.success) return null;
  const { changeId, state, action, reason, mode, inputSha, planHash, stagingSha } = predicate.data;
  const disclosed = bundle.rows.find(({ row: { kind } }) => kind === 'disclosed')?.row.body['violations'];
  return {
    changeId,
    state,
    action,
    reason,
    explanation: String(row.body['explanation'] ?? ''),
    mode,
    inputSha,
    planHash,
    stagingSha,
    findings: predicate.data.findingsSha === null ? [] : bundle.findings,
    violations: PolicyViolation.array().safeParse(disclosed).data ?? [],
    receipt: Envelope.safeParse(row.body['envelope']).data ?? null,
  };
}
