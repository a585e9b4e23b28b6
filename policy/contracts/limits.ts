/** Bounds on a submission. Larger input is refused, never truncated. */
export const MAX_DIFF_BYTES = 1024 * 1024;
export const MAX_INLINE_BYTES = 64 * 1024;
export const MAX_METADATA_BYTES = 16 * 1024;

/** Lengths are in UTF-16 code units. */
export const MAX_REASON_LENGTH = 4000;
/** Bound on the text of a refusal or failure in a ledger row. */
export const MAX_EXPLANATION_LENGTH = 4000;

export const MAX_EVIDENCE_REFS = 50;
export const MAX_VIOLATIONS = 200;
/** Attempts of the guardians of one unit; after the last one their findings are errors. */
export const MAX_GUARDIAN_ATTEMPTS = 3;

/** Duration of one attempt of a dry run or of a commit. Work that takes longer is cancelled and repeated, so it can never succeed. */
export const COMMIT_ATTEMPT_MS = 5 * 60_000;
/** Duration of one attempt to roll back, or to settle a commit that did not report. */
export const SETTLE_ATTEMPT_MS = 60_000;
