/** What the ledger rows of a change say, as they were written. Nothing is verified here. */
import { Submission } from '../policy/contracts/diff';
import { misconfigured } from '../policy/contracts/failure';
import type { LedgerKind, LedgerRow } from '../policy/contracts/ledger';
import { PolicyViolation } from '../policy/contracts/violation';
import type { Stopped } from '../policy/contracts/withdrawal';
import type { StoredRow } from '../policy/evidence/chain';
import { stopRowOf } from '../signing/assess-withdrawal';

/** The first row of this kind. */
export function rowOf(rows: readonly StoredRow[], kind: LedgerKind): LedgerRow | undefined {
  return rows.find(({ row }) => row.kind === kind)?.row;
}

/** Null without a readable row `submitted`: then the change was not opened. */
export function submissionIn(rows: readonly StoredRow[]): Submission | null {
  return Submission.safeParse(rowOf(rows, 'submitted')?.body['submission']).data ?? null;
}

/**
 * The requester that `openReview` verified; null if unknown. Never taken from the input of an activity: callbacks and four eyes depend
 * on it.
 */
export function requesterIn(rows: readonly StoredRow[]): string | null {
  const requester = rowOf(rows, 'submitted')?.body['requester'];
  return typeof requester === 'string' ? requester : null;
}

/**
 * Empty before the disclosure. Fails with CONFIGURATION_ERROR, not retried, if the row `disclosed` cannot be read: then no answer
 * counts.
 */
export function violationsIn(rows: readonly StoredRow[]): readonly PolicyViolation[] {
  const parsed = PolicyViolation.array().safeParse(rowOf(rows, 'disclosed')?.body['violations'] ?? []);
  if (parsed.success) return parsed.data;
  throw misconfigured('The row `disclosed` of this change cannot be read; withdraw the change and submit it again');
}

/** Null if the change is neither withdrawn nor superseded. */
export function stoppedIn(rows: readonly StoredRow[]): Stopped | null {
  const stop = stopRowOf(rows.map(({ row }) => row));
  return stop === null ? null : { reason: stop.reason, explanation: stop.explanation };
}
