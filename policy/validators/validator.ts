import type { DiffInput } from '../contracts/diff';
import type { ErrorClass } from '../contracts/finding';
import type { Verdict } from '../contracts/verdict';

/** The part of AbortSignal that a validator needs. `policy/` has no platform types. */
export interface CancelSignal {
  readonly aborted: boolean;
}

/** Context of one call. Retries, timeouts and caching are up to each validator. */
export interface ValidatorContext {
  readonly signal?: CancelSignal;
}

/**
 * Judges one staged diff. It does not learn from diffs and does not rewrite them.
 * `name()` is stable: logs, audit records and verdict sinks use it as a key.
 * `validate` rejects with a ValidatorError if it cannot answer, which the caller treats as a block, or with the caller's
 * own cancellation unchanged.
 */
export interface Validator {
  readonly name: () => string;
  readonly validate: (context: ValidatorContext, diff: DiffInput) => Promise<Verdict>;
}

/**
 * A validator could not answer. `code` is the error class, `verdict` a complete block verdict, and `cause` the underlying
 * error, or an AggregateError for several. Stays within one process: data or an ApplicationFailure whose `type` is the
 * code crosses to a workflow.
 */
export class ValidatorError extends Error {
  readonly code: ErrorClass;
  readonly verdict: Verdict;

  constructor(
    code: ErrorClass,
    message: string,
    from: {
      readonly validatorName: string;
      readonly policyVersion: string;
      readonly cause?: unknown;
      readonly details?: Verdict['details'];
    },
  ) {
    super(message, from.cause === undefined ? {} : { cause: from.cause });
    this.name = 'ValidatorError';
    this.code = code;
    this.verdict = {
      approved: false,
      score: 0,
      reason: message,
      severity: 'block',
      details: from.details ?? {},
      validatorName: from.validatorName,
      policyVersion: from.policyVersion,
    };
  }
}
