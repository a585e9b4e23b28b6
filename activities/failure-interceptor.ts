import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { CountersignFailure } from '../policy/contracts/failure';

/**
 * Converts each CountersignFailure that an activity throws to the ApplicationFailure that workflows match on. Every worker needs
 * it: without it Temporal reports the type "CountersignFailure" and retries failures that are not retryable.
 */
export const failureInterceptor: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (error) {
        throw error instanceof CountersignFailure ? toApplicationFailure(error) : error;
      }
    },
  },
});

function toApplicationFailure(failure: CountersignFailure): ApplicationFailure {
  const { type, message, details, nonRetryable, nextRetryDelayMs, cause, stack } = failure;
  const converted = ApplicationFailure.create({
    type,
    message,
    details: [...details],
    nonRetryable,
    ...(nextRetryDelayMs === null ? {} : { nextRetryDelay: nextRetryDelayMs }),
    ...(cause instanceof Error ? { cause } : {}),
  });
  if (stack !== undefined) converted.stack = stack;
  return converted;
}
