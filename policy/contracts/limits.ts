/** Bounds and patterns, once, for the schemas at the doors and for the plain checks in the sandbox. */

/** Bounds on what is submitted. Larger is refused at the door, never clipped. */
export const MAX_DIFF_BYTES = 1024 * 1024;
export const MAX_INLINE_BYTES = 64 * 1024;
export const MAX_METADATA_BYTES = 16 * 1024;

export const SHA256_HEX = { pattern: /^[0-9a-f]{64}$/, expected: '64 lower-case hex digits' } as const;
export const NAME = { pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, expected: '1 to 63 of A-Z a-z 0-9 . _ -' } as const;
/** The length must be a multiple of four besides. */
export const BASE64 = { pattern: /^[A-Za-z0-9+/]*={0,2}$/, expected: 'padded base64' } as const;
export const VALIDATOR_ID = {
  pattern: /^(guardian|safety|always-approve)(\.[a-z0-9][a-z0-9_]*)*$/,
  expected: 'guardian.<rule> or safety.<rule> in snake_case',
} as const;

export const MAX_EVIDENCE_REFS = 50;
export const MAX_VIOLATIONS = 200;
