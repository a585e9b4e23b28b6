// Names that the seeded defects share: sources, the test files that should catch a defect, and a frequent edit.
export const VERIFY = ['test/activities/committer/verify-change.test.ts'];
export const CHECKS = ['test/signing/verify-review/every-check.test.ts'];
export const COMMIT = ['test/activities/committer/commit.test.ts'];
export const RECORDS = ['test/signing/verify-review/attested.test.ts'];
export const REVOKED = ['test/activities/committer/revoked-keys.test.ts'];
export const ADMIT = ['test/activities/review/admit-answer.test.ts'];
export const DECIDE = ['test/policy/decide/decision-table.test.ts', 'test/policy/decide/properties.test.ts'];
export const VIOLATIONS = ['test/policy/decide/violations.test.ts'];
export const LATE = [
  'test/activities/committer/late-attempt.slow.test.ts',
  'test/activities/committer/lost-seal.slow.test.ts',
];
export const MANY = ['test/activities/review/aggregates.test.ts'];
export const SHOWN = ['test/signing/verified-review.test.ts'];
export const CLIENT = ['test/client/review-client.test.ts'];
export const TARGET = ['test/source-tools/sql/staging/commit.slow.test.ts'];
export const GATE = ['test/source-tools/sql/staging/gate.slow.test.ts'];
export const OLD_ROWS = ['test/source-tools/sql/staging/old-rows.slow.test.ts'];
export const DRY_RUN = ['test/source-tools/sql/staging/dry-run.slow.test.ts'];
export const RUNS = ['test/source-tools/sql/staging/runs.slow.test.ts'];
export const SESSION = ['test/source-tools/sql/staging/session.slow.test.ts'];
export const WITHDRAW = ['test/activities/review/admit-withdrawal.test.ts'];
export const LAST = ['test/policy/decide/last-words.test.ts'];
export const LEDGER = ['test/storage/ledger/ledger.slow.test.ts'];
export const STAGE = ['test/activities/committer/stage.test.ts'];

export const review = (file) => `signing/verify-review/${file}.ts`;
export const commit = 'activities/committer/commit.ts';
export const applyChange = 'activities/committer/apply-change.ts';
export const reconcile = 'activities/committer/reconcile.ts';
export const sealMarker = 'activities/committer/seal-marker.ts';
export const judge = 'signing/assess-answer.ts';
export const withdrawal = 'signing/assess-withdrawal.ts';
export const lastWords = 'policy/decide/last-words.ts';
export const registry = 'signing/registry-verify.ts';
export const decide = 'policy/decide/decide.ts';
export const counted = 'policy/decide/counted-answers.ts';
export const violations = 'policy/decide/violations.ts';
export const apply = 'source-tools/sql/staging/apply.ts';
export const schema = 'storage/database/schema.ts';
export const inspect = 'source-tools/sql/staging/inspect-catalog.ts';

/** `what` is the condition of an `if`; the defect makes it always false. */
export const never = (what) => ({ from: `if (${what}`, to: `if (false && ${what}` });
