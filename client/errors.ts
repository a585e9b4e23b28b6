/**
 * What can be wrong when a caller asks. A closed set: programs switch on `code`, people read `message`.
 * A rejected or expired change is no error: it is an outcome, and is returned.
 */
export type ErrorCode =
  /** The caller's input; `field` names the place. Sending the same again fails again. */
  | 'invalid_input'
  /** No such review, at Temporal or in the ledger. */
  | 'not_found'
  /** The bytes that a submission names are not in the store. Upload them, then submit again. */
  | 'diff_missing'
  /** Temporal did not answer in time. What was asked may have happened; every call may be repeated. */
  | 'temporal_unavailable'
  /** No worker answered in time, though Temporal did. */
  | 'worker_unavailable'
  | 'store_unavailable'
  | 'ledger_unavailable'
  /** The gateway did not answer in time, or not in our form. */
  | 'gateway_unavailable'
  /** The review itself refused: unknown source tool, no plan for the target, bad bundle. `details` has its type. */
  | 'refused'
  | 'unauthenticated'
  | 'not_eligible'
  /** A signature, receipt or digest did not verify. */
  | 'not_verified'
  | 'too_large'
  | 'too_many_requests'
  | 'internal';

/** Thrown at the door of client, CLI and gateway. */
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

/** A caller's mistake: what field, what was expected, what came, what to do. */
export function invalidInput(field: string, expected: string, got: string, todo: string): CountersignError {
  return new CountersignError('invalid_input', `${field}: expected ${expected}, got ${got}. ${todo}`, { field });
}

/** A short, harmless description of a value of any type, for messages. Never the value of a long text. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'string')
    return value.length > 40 ? `a string of ${value.length} characters` : JSON.stringify(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  const name: unknown = (Object.getPrototypeOf(value) as { constructor?: { name?: unknown } } | null)?.constructor
    ?.name;
  return typeof name === 'string' && name !== 'Object' ? `a ${name}` : 'an object';
}

/** The message of anything thrown, without its stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
