import { CountersignError, messageOf } from './errors';
import type { TemporalTrouble } from './temporal-errors';

export function setupHint(message: string): string {
  return /search attribute/i.test(message) ? '. Run `countersign setup`, which registers them' : '';
}

export function refusedBy({ message, type }: TemporalTrouble & { kind: 'refused' }, cause: unknown): CountersignError {
  return new CountersignError('refused', message, { cause, ...(type === null ? {} : { details: type }) });
}

export function notFound(changeId: string, cause: unknown): CountersignError {
  return new CountersignError(
    'not_found',
    `No review ${changeId}: neither Temporal nor the ledger knows it. Check the id, the namespace and the address`,
    { cause },
  );
}

export function noWorker(changeId: string, todo: string, cause: unknown): CountersignError {
  return new CountersignError(
    'worker_unavailable',
    `No review worker answered for ${changeId} in time; the review waits for one. ${todo}`,
    { cause },
  );
}

export function unavailable(todo: string, message: string, cause: unknown): CountersignError {
  return new CountersignError('temporal_unavailable', `Temporal did not answer in time (${message}). ${todo}`, {
    cause,
  });
}

export async function fromLedger<T>(call: () => Promise<T>, what: string): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw new CountersignError('ledger_unavailable', `${what}: ${messageOf(error)}`, { cause: error });
  }
}
