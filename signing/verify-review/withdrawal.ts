import { Submission } from '../../policy/contracts/diff';
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { WithdrawCode } from '../../policy/contracts/withdrawal';
import { assessWithdrawal, stopRowOf } from '../assess-withdrawal';
import { keysAt, assertSame, claimOf, fail, NEVER_OPENED, openedOf, rowOf } from './checking';
import type { Passed, Review } from './record';

/**
 * A withdrawn or superseded change is never committed, whether or not the statement in its row is valid. A rollback for that reason
 * needs a statement that is valid when it is assessed again. In any other review, a statement that is no longer valid, for example because
 * its key was revoked before the worker knew, does not count, like an answer. One that could never have been admitted fails this check.
 */
export function checkWithdrawal(review: Review): Passed {
  const { rows } = review;
  const [first, second] = rows.filter(({ kind }) => kind === 'withdrawn' || kind === 'superseded');
  if (second !== undefined) fail(`row ${second.n}: the change was withdrawn or superseded before, by row ${first?.n}`);
  const end = review.end === null ? null : claimOf(review);
  const endedSo = end?.reason === 'withdrawn' || end?.reason === 'superseded';
  const stopped = stopRowOf(rows);
  if (stopped === null) {
    if (endedSo) fail(`the receipt says ROLLBACK (${end.reason}), but no row ${end.reason} bears it out`);
    return ['none', { stopped: null }];
  }
  const { row, explanation } = stopped;
  if (end?.action === 'COMMIT') fail(explanation);
  const settled = rowOf(rows, 'intent', 'decided');
  if (settled !== null && settled.n < row.n)
    fail(`row ${row.n}: it came after the change was settled by row ${settled.n}`);
  const assessed = assessAgain(review, row);
  if (assessed.code === 'accepted') {
    assertSame(explanation, assessed.explanation, `row ${row.n}: its explanation differs from the signed statement`);
    return [explanation, { stopped: row }];
  }
  if (endedSo || NEVER_ADMITTED.has(assessed.code)) fail(`row ${row.n}: ${assessed.code}: ${assessed.message}`);
  return [
    `row ${row.n} forbids a commit, but does not count: ${assessed.code}, ${assessed.message}`,
    { stopped: null },
  ];
}

/** Codes that an admitted statement can never get later, so the row was not written by admission. */
const NEVER_ADMITTED: ReadonlySet<WithdrawCode> = new Set([
  'malformed',
  'bad_signature',
  'unknown_key',
  'wrong_context',
]);

function assessAgain(review: Review, row: LedgerRow): ReturnType<typeof assessWithdrawal> {
  const { submission, plan, changeId } = openedOf(review) ?? fail(NEVER_OPENED);
  const { statement, by, other: recorded } = row.body;
  const message = statement === null || statement === undefined ? { by } : { statement };
  const other = Submission.safeParse(recorded).data ?? null;
  const kind = row.kind === 'withdrawn' ? 'withdraw' : 'supersede';
  return assessWithdrawal(kind, message, { changeId, submission, plan, other }, keysAt(review, row.at), row.at);
}
