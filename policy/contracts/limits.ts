/** Bounds on what is submitted. Larger is refused at the door, never clipped. */
export const MAX_DIFF_BYTES = 1024 * 1024;
export const MAX_INLINE_BYTES = 64 * 1024;
export const MAX_METADATA_BYTES = 16 * 1024;

export const MAX_EVIDENCE_REFS = 50;
export const MAX_VIOLATIONS = 200;
