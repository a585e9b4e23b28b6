const MINUTE = 60_000;

/**
 * How long the workflow waits for a step with all its attempts; `review`: opening and disclosure. After this time, without a row of the
 * step, the rows support a rollback (`rollback-reasons.ts`).
 */
export const STEP_MS = {
  review: 24 * 60 * MINUTE,
  guardians: 15 * MINUTE,
  dryRun: 60 * MINUTE,
  judge: 10 * MINUTE,
  judgeFailure: MINUTE,
} as const;
