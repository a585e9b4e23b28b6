import type { ReviewActivities, VerdictsInput } from '../review-types';

/** Where the verdicts of a review go (F7, F64). May be told the same twice. Throws, retryable, where it is away. */
export type RecordVerdicts = (input: VerdictsInput) => Promise<void>;

/** Null where nothing takes them: a review that was opened before the breakers were switched off. */
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
