/**
 * Error codes of client, CLI and gateway. A closed set: programs switch on `code`, people read `message`.
 * A rejected or expired change is not an error: it is returned as an outcome.
 */
export const ERROR_CODES = [
  /** The caller's input is invalid; `field` names the member. A retry with the same input fails again. */
  'invalid_input',
  /** The review exists neither in Temporal nor in the ledger, or its workflow ended before the ledger had its submission. */
  'not_found',
  /** The diff of a submission is not in the store. Upload it, then submit again. */
  'diff_missing',
  /** Another call was first: what was sent is for an earlier state. Look again, then repeat the call. */
  'conflict',
  /** Temporal did not answer in time. The call may have taken effect; every call is safe to retry. */
  'temporal_unavailable',
  /** Temporal answered, but no worker did, or none has opened the review yet. */
  'worker_unavailable',
  'store_unavailable',
  'ledger_unavailable',
  /** The gateway did not answer in time, or its response was invalid. */
  'gateway_unavailable',
  /**
   * The review refused the call: unknown source tool, no plan for the target, invalid bundle. `field` names the member if only one is the
   * reason. Without a gateway, `options.details` has the failure type.
   */
  'refused',
  'unauthenticated',
  'not_eligible',
  /** Verification of a signature, receipt or digest failed. */
  'not_verified',
  'too_large',
  'too_many_requests',
  'internal',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The error that client, CLI and gateway throw to their caller. */
export class CountersignError extends Error {
  override readonly name = 'CountersignError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly options: { readonly field?: string; readonly details?: string; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
  }

  get field(): string | undefined {
    return this.options.field;
  }
}

/** Whether a server did not answer, or gets too many calls. The call may have taken effect; every call is safe to repeat. */
export function isTransient(error: unknown): error is CountersignError {
  return (
    error instanceof CountersignError && (error.code.endsWith('_unavailable') || error.code === 'too_many_requests')
  );
}

/** An `invalid_input` error: which field, what was expected, what was received, what to do. */
export function invalidInput(field: string, expected: string, got: string, whatToDo: string): CountersignError {
  return new CountersignError('invalid_input', `${field}: expected ${expected}, got ${got}. ${whatToDo}`, { field });
}

/** A short description of any value for messages. Contains strings only up to 40 characters. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'string')
    return value.length > 40 ? `a string of ${value.length} characters` : JSON.stringify(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return `the bigint ${value}`;
  if (typeof value !== 'object') return `a ${typeof value}`;
  const name: unknown = (Object.getPrototypeOf(value) as { constructor?: { name?: unknown } } | null)?.constructor
    ?.name;
  return typeof name === 'string' && name !== 'Object' ? `a ${name}` : 'an object';
}

/** The message of anything thrown, without its stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
