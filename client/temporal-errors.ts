import {
  isGrpcServiceError,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import {
  ActivityFailure,
  ApplicationFailure,
  TimeoutFailure,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/common';
import { z } from 'zod';
import { FailureType } from '../policy/contracts/failure-type';
import { messageOf } from './errors';

/**
 * The meaning of a failed call to Temporal. `not_running`: no run with this id accepts messages, because it is closed, past
 * retention, or never existed. `timed_out`: no answer in time, so the call may have taken effect. `unreachable`: the server could
 * not be reached, or is busy. `no_more_updates`: the run has reached the server's limit of updates; signals still arrive. `workflow_failed`: the workflow ended without a result.
 */
export type TemporalProblem =
  | { readonly kind: 'not_running' }
  | { readonly kind: 'already_closed' }
  | { readonly kind: 'timed_out'; readonly message: string }
  | { readonly kind: 'unreachable'; readonly message: string }
  | { readonly kind: 'no_worker'; readonly message: string }
  | { readonly kind: 'no_more_updates'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string; readonly type: string | null; readonly field?: string }
  | { readonly kind: 'workflow_failed'; readonly message: string }
  | { readonly kind: 'other'; readonly message: string };

/** Values of grpc.status. Repeated here, because @grpc/grpc-js is not a dependency. */
export const GRPC = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  UNAVAILABLE: 14,
} as const;

/**
 * What the server says at its limits history.maxTotalUpdates (2,000 in a run) and history.maxInFlightUpdates (10). The codes differ
 * (FAILED_PRECONDITION and RESOURCE_EXHAUSTED) and have other meanings as well.
 */
const UPDATE_LIMIT = /limit on .* updates .*has been reached/i;

/** The failure type of an update that was accepted, but whose workflow ended before the update completed. */
const ENDED_UNDER_UPDATE = 'AcceptedUpdateCompletedWorkflow';

export function toTemporalProblem(error: unknown): TemporalProblem {
  const message = messageOf(error);
  if (error instanceof WorkflowExecutionAlreadyStartedError) return { kind: 'already_closed' };
  if (error instanceof WorkflowNotFoundError) return { kind: 'not_running' };
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return { kind: 'timed_out', message };
  if (error instanceof WorkflowFailedError)
    return {
      kind: 'workflow_failed',
      message: error.cause === undefined ? message : `${message}: ${error.cause.message}`,
    };
  if (error instanceof WorkflowUpdateFailedError) return updateProblem(error);
  const grpc = isGrpcServiceError(error)
    ? error
    : error instanceof Error && isGrpcServiceError(error.cause)
      ? error.cause
      : null;
  if (grpc === null) return { kind: 'other', message };
  const details = grpc.details === '' ? message : grpc.details;
  if (UPDATE_LIMIT.test(details)) return { kind: 'no_more_updates', message: details };
  switch (grpc.code) {
    case GRPC.DEADLINE_EXCEEDED:
    case GRPC.CANCELLED:
      return { kind: 'timed_out', message: details };
    case GRPC.NOT_FOUND:
      return { kind: 'not_running' };
    case GRPC.FAILED_PRECONDITION:
      return { kind: 'no_worker', message: details };
    case GRPC.UNAVAILABLE:
    // A limit of the server, such as its rate of calls, after the retries of the SDK.
    case GRPC.RESOURCE_EXHAUSTED:
      return { kind: 'unreachable', message: details };
    default:
      return { kind: 'other', message: details };
  }
}

function updateProblem(error: WorkflowUpdateFailedError): TemporalProblem {
  // An activity that failed under the update says why in its own cause.
  const cause = error.cause instanceof ActivityFailure ? (error.cause.cause ?? error.cause) : error.cause;
  const failure = cause instanceof ApplicationFailure ? cause : null;
  if (failure?.type === ENDED_UNDER_UPDATE) return { kind: 'not_running' };
  // An attempt of the activity may have written the row before the time was over.
  if (cause instanceof TimeoutFailure) {
    const last = cause.cause === undefined ? '' : `: ${cause.cause.message}`;
    return { kind: 'refused', message: `${cause.message}${last}`, type: FailureType.Store };
  }
  const field = Details.safeParse(failure?.details?.[0]).data?.field;
  return {
    kind: 'refused',
    message: cause === undefined ? error.message : cause.message,
    type: failure?.type ?? null,
    ...(field === undefined ? {} : { field }),
  };
}

/** Of the details of a failure. */
const Details = z.object({ field: z.string().max(200) });
