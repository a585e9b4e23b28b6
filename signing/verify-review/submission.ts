import { Submission } from '../../policy/contracts/diff';
import { changeId as changeIdOf, inputSha as inputShaOf } from '../../policy/contracts/change-id';
import { sha256Hex } from '../../policy/contracts/hash';
import { verifySubmission } from '../verify-submission';
import { keysAt, assertSame, fail, NEVER_OPENED, openedOf, rowOf, supplied } from './checking';
import type { Passed, Review } from './record';

export function checkSubmission({ record, rows }: Review): Passed {
  const { changeId, file } = record;
  const row = rowOf(rows, 'submitted');
  if (row === null) return fail('no row contains a submission: the change was never opened');
  const parsed = Submission.safeParse(row.body['submission']);
  if (!parsed.success) fail(`row ${row.n}: its submission cannot be read`);
  const submission = parsed.data;
  if (file !== null) {
    if (file.submission === null) fail('the submission is missing');
    assertSame(file.submission, row.body['submission'], `the submission differs from that of row ${row.n}`);
  }
  if (changeIdOf(submission) !== changeId) fail('the submission hashes to another change id');
  if (row.body['inputSha'] !== inputShaOf(submission)) fail(`row ${row.n}: its inputSha differs from the submission's`);
  return [`inputSha ${inputShaOf(submission)}`, { submission }];
}

export function checkBytes(review: Review): Passed {
  const submission = review.need('submission');
  if (submission === null) return [NEVER_OPENED];
  const raw = supplied(review.record.bytes, 'the bytes are not in the file; `diffSha` identifies them');
  if (sha256Hex(raw) !== submission.diffSha) fail('the digest of the bytes differs from diffSha');
  return [`${raw.length} bytes, diffSha ${submission.diffSha}`];
}

/**
 * An invalid signature fails the check: it is never treated as "unsigned". The requester of a review that commits nothing stays known if
 * the key was revoked after the opening.
 */
export function checkRequester(review: Review): Passed {
  const opened = openedOf(review);
  if (opened === null) return [NEVER_OPENED, { requester: null }];
  const { submission, plan } = opened;
  const row = rowOf(review.rows, 'submitted');
  const keys = keysAt(review, row?.at ?? '');
  const verified = verifySubmission(submission, { keys, development: plan.development });
  if (!verified.ok && verified.code !== 'unsigned') fail(verified.message);
  const requester = verified.ok ? verified.requester : null;
  if (row?.body['requester'] !== requester)
    fail(`the requester in the row differs from the verified one, ${requester ?? '(unknown)'}`);
  const revokedAt = verified.ok ? review.need('keys')(verified.keyId)?.revokedAt : null;
  const revoked = revokedAt == null ? '' : `, which was revoked at ${revokedAt}`;
  const detail =
    requester === null
      ? 'unknown: four eyes require two people'
      : `${requester}, by the signature of key ${verified.ok ? verified.keyId.slice(0, 16) : ''}${revoked}`;
  return [detail, { requester }];
}
