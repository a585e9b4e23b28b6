import { CountersignFailure } from '../policy/contracts/failure';
import { FailureType } from '../policy/contracts/failure-type';
import { CountersignError, messageOf } from './errors';
import type { ClientLedger } from './ports';
import type { TemporalProblem } from './temporal-errors';

export function setupHint(message: string): string {
  return /search attribute/i.test(message) ? '. Run `countersign setup`, which registers them' : '';
}

/** A connection can fail after the row was committed, so after a failure of the ledger the row may exist. */
export function refusedBy(
  { message, type, field }: TemporalProblem & { kind: 'refused' },
  cause: unknown,
  whatToDo: string,
): CountersignError {
  if (type === FailureType.Store)
    return new CountersignError(
      'ledger_unavailable',
      `It is unknown whether the message was recorded: ${message}. ${whatToDo}`,
      { cause },
    );
  return new CountersignError('refused', message, {
    cause,
    ...(type === null ? {} : { details: type }),
    ...(field === undefined ? {} : { field }),
  });
}

export function notFound(changeId: string, cause: unknown): CountersignError {
  return new CountersignError(
    'not_found',
    `Review ${changeId} not found in Temporal or in the ledger. Check the id, the namespace and the address`,
    { cause },
  );
}

export function noWorker(changeId: string, whatToDo: string, cause: unknown): CountersignError {
  return new CountersignError(
    'worker_unavailable',
    `No review worker answered for ${changeId} in time; the review continues when a worker is available. ${whatToDo}`,
    { cause },
  );
}

/** For a review that Temporal runs and whose submission is not in the ledger. */
export function notOpened(changeId: string): CountersignError {
  return new CountersignError(
    'worker_unavailable',
    `Temporal runs a workflow for ${changeId}, but the ledger has no submission of it: no review worker has opened the review yet. Ask again later. If this continues, check that a review worker runs, and that it writes to the ledger that is read here`,
  );
}

/** For a workflow that ended before the ledger had its submission. */
export function neverOpened(changeId: string): CountersignError {
  return new CountersignError(
    'not_found',
    `Temporal has a workflow for ${changeId} that has ended, but the ledger has no submission of it: the review was never opened, or it is in another ledger. \`result\` says how the workflow ended. If that is not what you expect, check that the right ledger is read`,
  );
}

/** For a message to a review that the ledger has as open, but that no workflow runs. */
export function noRun(changeId: string, cause: unknown): CountersignError {
  return new CountersignError(
    'worker_unavailable',
    `No workflow runs for ${changeId}, and the ledger has the review as open until a committer ends it. It has no row of the message. Send again later: it counts once`,
    { cause },
  );
}

export function unavailable(whatToDo: string, message: string, cause: unknown): CountersignError {
  return new CountersignError('temporal_unavailable', `Temporal did not answer in time (${message}). ${whatToDo}`, {
    cause,
  });
}

/**
 * For data that is stored but is not what was recorded, cannot be decrypted here, or is of a policy that this process does not trust or
 * cannot compute; null for any other error. No retry helps.
 */
export function unreadable(error: unknown): CountersignError | null {
  const is = (type: FailureType): boolean => error instanceof CountersignFailure && error.type === type;
  return is(FailureType.DigestMismatch) || is(FailureType.Configuration) || is(FailureType.PolicyMoved)
    ? new CountersignError('not_verified', messageOf(error), { cause: error })
    : null;
}

export async function fromLedger<T>(call: () => Promise<T>, what: string): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw (
      unreadable(error) ?? new CountersignError('ledger_unavailable', `${what}: ${messageOf(error)}`, { cause: error })
    );
  }
}

/** `worker_unavailable`, unless the ledger does not answer: then workers cannot record a message, and the error names the ledger. */
export async function partThatIsDown(
  error: CountersignError,
  ledger: Pick<ClientLedger, 'summary'> | null,
  changeId: string,
): Promise<CountersignError> {
  if (error.code !== 'worker_unavailable' || ledger === null) return error;
  try {
    await ledger.summary(changeId);
    return error;
  } catch (cause) {
    return new CountersignError(
      'ledger_unavailable',
      `The message was sent, but the ledger cannot be read, so its result is unknown: ${messageOf(cause)}. Send again later: it counts once`,
      { cause },
    );
  }
}
