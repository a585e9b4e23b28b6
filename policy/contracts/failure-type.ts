/**
 * The `type` of each ApplicationFailure that activities, workflows and clients exchange. Match on these strings, never on
 * classes: `instanceof` does not work across the workflow VM.
 */
export const FailureType = {
  /** The model, a database or a service did not answer. Retried. */
  Backend: 'ErrValidatorBackend',
  /** The model's answer was not exactly one valid verdict. Never retried: another answer would be another chance to pass. */
  VerdictParse: 'ErrVerdictParse',
  /** No adapter or validator is registered for this source tool. Never retried. */
  UnknownDiffType: 'ErrUnknownDiffType',
  /** The bundle, the plan or a registry is invalid or does not match this process. Never retried. */
  Configuration: 'CONFIGURATION_ERROR',
  /** Invalid input, refused before any effect; `details[0]` has field, expected and got. Never retried. */
  Validation: 'VALIDATION_ERROR',
  /** The plan was revoked, or this worker can no longer recompute it. Never retried. */
  PolicyMoved: 'policy_moved',
  /** A recomputed hash differs from the hash that was passed. Never retried. */
  DigestMismatch: 'DIGEST_MISMATCH',
  /** The database of Countersign is unavailable. Retried. */
  Store: 'STORE_UNAVAILABLE',
  /** The target is unavailable, locked or too slow. Retried. */
  Target: 'TARGET_UNAVAILABLE',
} as const;
export type FailureType = (typeof FailureType)[keyof typeof FailureType];
