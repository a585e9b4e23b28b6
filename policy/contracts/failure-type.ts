/**
 * The `type` of every ApplicationFailure that crosses activity, workflow or client. Match on these strings, never on
 * classes: `instanceof` breaks across the workflow VM. Whether retrying helps is said beside each.
 */
export const FailureType = {
  /** The model, a database or a service did not answer. Retried. */
  Backend: 'ErrValidatorBackend',
  /** The model's text was not one strict verdict. Retried at most once. */
  VerdictParse: 'ErrVerdictParse',
  /** No adapter or validator reads this source tool's diffs. Never retried. */
  UnknownDiffType: 'ErrUnknownDiffType',
  /** The bundle, plan or a registry does not fit. Never retried. */
  Configuration: 'CONFIGURATION_ERROR',
  /** Bad input, refused at the door; `details[0]` lists field, expected, got. Never retried. */
  Validation: 'VALIDATION_ERROR',
  /** The plan was revoked, or this worker can no longer recompute it. Never retried. */
  PolicyMoved: 'policy_moved',
  /** What the change was approved against has moved. Never retried. */
  StaleBase: 'STALE_BASE',
  /** A hash recomputed from the store differs from the one handed over. Never retried. */
  DigestMismatch: 'DIGEST_MISMATCH',
  /** Our own database is away. Retried. */
  Store: 'STORE_UNAVAILABLE',
  /** The target is away, locked or too slow. Retried. */
  Target: 'TARGET_UNAVAILABLE',
  /** A person or key may not do this. Never retried. */
  NotEligible: 'NOT_ELIGIBLE',
  /** The plan hash of a session differs from the one that it was opened with (G43). Never retried. */
  SessionStateHashMismatch: 'SESSION_STATE_HASH_MISMATCH',
} as const;
export type FailureType = (typeof FailureType)[keyof typeof FailureType];
