/** Exit codes of every command. */
export const ExitCode = {
  Ok: 0,
  Failure: 1,
  Usage: 2,
  /** A human must confirm, or the review still runs. */
  Pending: 8,
  /** Rejected, forbidden, or rolled back for a reason that has no separate code. */
  Rejected: 10,
  Expired: 11,
  /** The base or the policy has changed, or the answer is for an earlier state of the review. */
  Stale: 12,
  NotEligible: 13,
  /** A signature, receipt or digest did not verify. */
  Unverified: 14,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
