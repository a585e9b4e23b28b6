import { Submission } from '../../policy/contracts/diff';
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { KeyLookup } from '../../policy/evidence/key-registry';
import { judgeWithdrawal, stopRowOf } from '../judge-withdrawal';
import { assertSame, claimOf, fail, NEVER_OPENED, openedOf, rowOf } from './outcome';
import type { Passed, Review } from './record';

/**
 * A withdrawn or superseded change is never committed. A rollback for that reason needs its row, with a signed statement that is
 * judged again. The row itself already forbids the commit: it is not a reason to commit that its statement is not valid.
 */
export function checkWithdrawal(review: Review): Passed {
  const { rows } = review;
  const [first, second] = rows.filter(({ kind }) => kind === 'withdrawn' || kind === 'superseded');
  if (second !== undefined) fail(`row ${second.n}: the change was withdrawn or superseded before, by row ${first?.n}`);
  const end = review.end === null ? null : claimOf(review);
  const stopped = stopRowOf(rows);
  if (stopped === null) {
    if (end?.reason === 'withdrawn' || end?.reason === 'superseded')
      fail(`the receipt says ROLLBACK (${end.reason}), but no row ${end.reason} bears it out`);
    return ['none'];
  }
  if (end?.action === 'COMMIT') fail(stopped.explanation);
  const settled = rowOf(rows, 'intent', 'decided');
  if (settled !== null && settled.n < stopped.row.n)
    fail(`row ${stopped.row.n}: it came after the change was settled by row ${settled.n}`);
  assertSigned(review, stopped.row);
  return [stopped.explanation];
}

function assertSigned(review: Review, row: LedgerRow): void {
  const { submission, plan, changeId } = openedOf(review) ?? fail(NEVER_OPENED);
  const { statement, by, other: recorded, explanation } = row.body;
  const message = statement === null || statement === undefined ? { by } : { statement };
  const other = Submission.safeParse(recorded).data ?? null;
  const kind = row.kind === 'withdrawn' ? 'withdraw' : 'supersede';
  const keys = keysAt(review.need('keys'), row.at);
  const judged = judgeWithdrawal(kind, message, { changeId, submission, plan, other }, keys, row.at);
  if (judged.code !== 'accepted') return fail(`row ${row.n}: ${judged.code}: ${judged.message}`);
  assertSame(explanation, judged.explanation, `row ${row.n}: its explanation differs from the signed statement`);
}

/** A key that was revoked later was valid when it signed. */
function keysAt(keys: KeyLookup, at: string): KeyLookup {
  return (keyId) => {
    const key = keys(keyId);
    return key !== undefined && key.revokedAt !== null && Date.parse(key.revokedAt) > Date.parse(at)
      ? { ...key, revokedAt: null }
      : key;
  };
}
