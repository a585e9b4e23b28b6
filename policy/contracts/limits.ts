/** Bounds on what is submitted. Larger is refused at the door, never clipped. */
export const MAX_DIFF_BYTES = 1024 * 1024;
export const MAX_INLINE_BYTES = 64 * 1024;
export const MAX_METADATA_BYTES = 16 * 1024;

/** Lengths are in UTF-16 code units. */
export const MAX_REASON_LENGTH = 4000;
/** What a ledger row says of a refusal or a failure. */
export const MAX_EXPLANATION_LENGTH = 4000;

export const MAX_EVIDENCE_REFS = 50;
export const MAX_VIOLATIONS = 200;
