import type { ReviewActivities, VerdictsInput } from '../review-types';

/** Sends the verdicts of a review to the circuit breakers. At least once. Throws a retryable error if they are unavailable. */
export type RecordVerdicts = (input: VerdictsInput) => Promise<void>;

/** If `record` is null (the breakers were switched off after the review was opened), the verdicts are discarded. */
export function createVerdictActivities({
  record,
}: {
  readonly record: RecordVerdicts | null;
}): Pick<ReviewActivities, 'recordVerdicts'> {
  return {
    async recordVerdicts(input) {
      await record?.(input);
    },
  };
}
