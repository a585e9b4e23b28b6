import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** The failure of an activity, unwrapped. */
export interface Failure {
  readonly type: string;
  readonly message: string;
  /** The activity reported that a retry cannot help. */
  readonly final: boolean;
}

export function failureOf(error: unknown): Failure {
  const cause = error instanceof ActivityFailure ? (error.cause ?? error) : error;
  if (cause instanceof ApplicationFailure)
    return { type: cause.type ?? 'unknown', message: cause.message, final: cause.nonRetryable === true };
  return {
    type: cause instanceof Error ? cause.name : 'unknown',
    message: cause instanceof Error ? cause.message : String(cause),
    final: false,
  };
}
