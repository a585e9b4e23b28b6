import type { AnswerMessage, AnswerResults } from '../policy/contracts/answer';
import type { LedgerRow } from '../policy/contracts/ledger';
import type { SupersedeMessage, WithdrawMessage, WithdrawResult } from '../policy/contracts/withdrawal';
import { acknowledgeAfterEnd, unacknowledged, type KeyOwners } from './acknowledge';
import { unacknowledgedWithdrawal, withdrawalInRows } from './acknowledge-withdrawal';
import type { ClientLedger } from './ports';
import { chainOf } from './read-back';
import { fromLedger, noRun, notFound } from './review-errors';
import type { ReviewRuns } from './review-runs';

/** `cause`: the error of Temporal that said that no run accepts the message. */
export interface AfterRun {
  readonly runs: ReviewRuns;
  readonly ledger: ClientLedger | null;
  readonly changeId: string;
  readonly cause: unknown;
}

const CLOSED = 'The review is closed; it does not accept answers';
const TOO_LATE: WithdrawResult = { code: 'too_late', message: 'The review is closed' };

/**
 * What became of answers that no run accepted. The run may have ended because of them, if the response to an earlier attempt was lost:
 * the rows have them then. The refusal of the others is recorded. Throws `not_found`, `worker_unavailable`, `ledger_unavailable`.
 */
export async function answeredAfterRun(
  after: AfterRun,
  answers: AnswerMessage['answers'],
  owners: KeyOwners,
): Promise<AnswerResults> {
  const { ledger, changeId } = after;
  const rows = await rowsAfterRun(after);
  const { results, late } = acknowledgeAfterEnd(answers, CLOSED, rows ?? [], owners);
  if (ledger === null || rows === null) return unacknowledged(answers, results);
  if (late.length === 0) return results;
  if (isOpen(rows)) throw noRun(changeId, after.cause);
  await fromLedger(
    () => ledger.recordLate(changeId, { answers: late }, CLOSED),
    'The review is closed, and the refusal of this answer could not be recorded',
  );
  return results;
}

/** As `answeredAfterRun`, for a withdrawal or a supersession. */
export async function stoppedAfterRun(
  after: AfterRun,
  kind: 'withdraw' | 'supersede',
  message: WithdrawMessage | SupersedeMessage,
): Promise<WithdrawResult> {
  const { ledger, changeId } = after;
  const rows = await rowsAfterRun(after);
  if (ledger === null || rows === null) return unacknowledgedWithdrawal(TOO_LATE);
  const found = withdrawalInRows(message, rows);
  if (found?.code === 'accepted' || found?.code === 'duplicate') return found;
  if (isOpen(rows)) throw noRun(changeId, after.cause);
  // Not for an id that only Temporal knows: an invented one must not create rows.
  if (hasEnded(rows))
    await fromLedger(
      () => ledger.recordLateWithdrawal(changeId, kind, message, TOO_LATE.message),
      'The review is closed, and the refusal of this message could not be recorded',
    );
  return TOO_LATE;
}

/** A change that has only other rows is not a review. */
const OF_A_REVIEW: ReadonlySet<string> = new Set(['submitted', 'receipt', 'closed']);

/** Null without a ledger. Throws `not_found` if neither Temporal nor the ledger has the review. */
async function rowsAfterRun({ runs, ledger, changeId, cause }: AfterRun): Promise<readonly LedgerRow[] | null> {
  const what = 'The review does not accept messages, and the ledger cannot be read';
  const rows = ledger === null ? null : chainOf(changeId, await fromLedger(() => ledger.rows(changeId), what));
  const known = rows?.some(({ kind }) => OF_A_REVIEW.has(kind)) === true;
  if (!known && (await runs.probe(changeId)) === 'unknown') throw notFound(changeId, cause);
  return rows;
}

/** Whether the ledger has the review as opened and not ended. */
function isOpen(rows: readonly LedgerRow[]): boolean {
  return rows.some(({ kind }) => kind === 'submitted') && !hasEnded(rows);
}

function hasEnded(rows: readonly LedgerRow[]): boolean {
  return rows.some(({ kind }) => kind === 'closed');
}
