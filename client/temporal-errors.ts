import {
  isGrpcServiceError,
  QueryNotRegisteredError,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/common';
import { messageOf } from './errors';

/**
 * What a failed call to Temporal means for a review. `gone`: no run takes messages under this id: closed, past retention, or never
 * there. `slow`: no answer in time, so it may have happened. `away`: the server could not be reached.
 */
export type TemporalTrouble =
  | { readonly kind: 'gone' }
  | { readonly kind: 'already_closed' }
  | { readonly kind: 'slow'; readonly message: string }
  | { readonly kind: 'away'; readonly message: string }
  | { readonly kind: 'no_worker'; readonly message: string }
  | { readonly kind: 'no_review'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string; readonly type: string | null }
  | { readonly kind: 'ended_badly'; readonly message: string }
  | { readonly kind: 'other'; readonly message: string };

// grpc.status; named here, since @grpc/grpc-js is no dependency of ours.
const GRPC = { CANCELLED: 1, DEADLINE_EXCEEDED: 4, NOT_FOUND: 5, FAILED_PRECONDITION: 9, UNAVAILABLE: 14 } as const;

/** An update that was accepted, and whose review ended before it was answered. */
const ENDED_UNDER_UPDATE = 'AcceptedUpdateCompletedWorkflow';

export function toTrouble(error: unknown): TemporalTrouble {
  const message = messageOf(error);
  if (error instanceof WorkflowExecutionAlreadyStartedError) return { kind: 'already_closed' };
  if (error instanceof WorkflowNotFoundError) return { kind: 'gone' };
  if (error instanceof QueryNotRegisteredError) return { kind: 'no_review', message };
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return { kind: 'slow', message };
  if (error instanceof WorkflowFailedError)
    return { kind: 'ended_badly', message: error.cause === undefined ? message : `${message}: ${error.cause.message}` };
  if (error instanceof WorkflowUpdateFailedError) return updateTrouble(error);
  const grpc = isGrpcServiceError(error)
    ? error
    : error instanceof Error && isGrpcServiceError(error.cause)
      ? error.cause
      : null;
  if (grpc === null) return { kind: 'other', message };
  const details = grpc.details === '' ? message : grpc.details;
  switch (grpc.code) {
    case GRPC.DEADLINE_EXCEEDED:
    case GRPC.CANCELLED:
      return { kind: 'slow', message: details };
    case GRPC.NOT_FOUND:
      return { kind: 'gone' };
    case GRPC.FAILED_PRECONDITION:
      return { kind: 'no_worker', message: details };
    case GRPC.UNAVAILABLE:
      return { kind: 'away', message: details };
    default:
      return { kind: 'other', message: details };
  }
}

function updateTrouble(error: WorkflowUpdateFailedError): TemporalTrouble {
  const failure = error.cause instanceof ApplicationFailure ? error.cause : null;
  if (failure?.type === ENDED_UNDER_UPDATE) return { kind: 'gone' };
  return {
    kind: 'refused',
    message: error.cause === undefined ? error.message : error.cause.message,
    type: failure?.type ?? null,
  };
}
