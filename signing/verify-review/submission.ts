import { Submission } from '../../policy/contracts/diff';
import { changeId as changeIdOf, inputSha as inputShaOf } from '../../policy/contracts/change-id';
import { sha256Hex } from '../../policy/contracts/hash';
import { verifySubmission } from '../verify-submission';
import { assertSame, fail, NEVER_OPENED, openedOf, rowOf, supplied } from './outcome';
import type { Passed, Review } from './record';

export function checkSubmission({ record, rows, sources }: Review): Passed {
  const { changeId, file } = record;
  const row = rowOf(rows, 'submitted');
  if (row === null) {
    if (sources.context === 'commit') fail('the ledger has no submission of this change');
    if (file !== null && (file.submission !== null || file.bytes !== null)) fail('no row says that this was submitted');
    return ['none: the change was never opened', { submission: null }];
  }
  const parsed = Submission.safeParse(row.body['submission']);
  if (!parsed.success) fail(`row ${row.n}: its submission cannot be read`);
  const submission = parsed.data;
  if (file !== null) {
    if (file.submission === null) fail('the submission is missing');
    assertSame(file.submission, row.body['submission'], `it is not the submission of row ${row.n}`);
  }
  if (changeIdOf(submission) !== changeId) fail('it hashes to another change id');
  if (row.body['inputSha'] !== inputShaOf(submission)) fail(`row ${row.n} names another inputSha`);
  return [`inputSha ${inputShaOf(submission)}`, { submission }];
}

export function checkBytes(review: Review): Passed {
  const submission = review.need('submission');
  if (submission === null) return [NEVER_OPENED];
  const raw = supplied(review.record.bytes, 'the bytes are not in the file; `diffSha` names them');
  if (sha256Hex(raw) !== submission.diffSha) fail('the bytes have another digest than diffSha');
  return [`${raw.length} bytes, diffSha ${submission.diffSha}`];
}

/** An invalid signature fails: it is never read as "unsigned". */
export function checkRequester(review: Review): Passed {
  const opened = openedOf(review);
  if (opened === null) return [NEVER_OPENED, { requester: null }];
  const { submission, plan } = opened;
  const verified = verifySubmission(submission, { keys: review.need('keys'), development: plan.development });
  if (!verified.ok && verified.code !== 'unsigned') fail(verified.message);
  const requester = verified.ok ? verified.requester : null;
  if (rowOf(review.rows, 'submitted')?.body['requester'] !== requester)
    fail(`the row names another requester than ${requester ?? 'an unknown one'}`);
  const detail =
    requester === null
      ? 'unknown: four eyes need one more person'
      : `${requester}, by the signature of key ${verified.ok ? verified.keyId.slice(0, 16) : ''}`;
  return [detail, { requester }];
}
