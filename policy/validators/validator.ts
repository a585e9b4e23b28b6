import type { DiffInput } from '../contracts/diff';
import type { ErrorClass } from '../contracts/finding';
import type { Verdict } from '../contracts/verdict';
import type { BreakerSample } from '../contracts/readings';

/** The part of an AbortSignal that a validator needs: `policy/` has no platform types. */
export interface CancelSignal {
  readonly aborted: boolean;
}

/** What a call carries beside the diff. A validator's retry, time-out and cache policy is its own (F4). */
export interface ValidatorContext {
  readonly signal?: CancelSignal;
}

/**
 * A synchronous gate over one staged diff (F1): never learns, never rewrites, only judges (F6).
 * `name()` is stable: logs, audit and verdict sinks route by it (F2).
 * Rejects with a ValidatorError where it cannot answer, which a caller reads as a block (F3); with the caller's own
 * cancellation unchanged.
 */
export interface Validator {
  readonly name: () => string;
  readonly validate: (context: ValidatorContext, diff: DiffInput) => Promise<Verdict>;
}

/**
 * A validator could not answer (C17). `code` tells why, `verdict` is a complete block verdict (F46, F54), `cause` is what
 * went wrong; of several, an AggregateError. Stays inside one process: what crosses to a workflow is data, or an
 * ApplicationFailure whose `type` is the code, which `hasErrorCode` reads as well.
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

const MAX_CAUSES = 100;

/**
 * True when `error`, or anything in its chain of causes and joined errors, is of this class (F23): reads `code`, and
 * `type` of an ApplicationFailure. By value, since `instanceof` breaks across realms and serialization.
 */
export function hasErrorCode(error: unknown, code: string): boolean {
  const seen = new Set<unknown>();
  const open: unknown[] = [error];
  while (open.length > 0 && seen.size < MAX_CAUSES) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    const {
      code: ownCode,
      type,
      cause,
      errors,
    } = next as { code?: unknown; type?: unknown; cause?: unknown; errors?: unknown };
    if (ownCode === code || type === code) return true;
    open.push(cause, ...(Array.isArray(errors) ? errors : []));
  }
  return false;
}

/** Receives every verdict and every error, routed by the validator's name (F7, F64). */
export interface VerdictSink {
  readonly record: (validatorName: string, sample: BreakerSample, score: number) => void;
}
