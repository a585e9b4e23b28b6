import { FailureType } from './failure-type';

/**
 * A failure with a `type` that callers match on. Code below the activities throws it without knowing Temporal; one activity
 * interceptor turns it into an ApplicationFailure with the same type, message, details and retry settings.
 */
export class CountersignFailure extends Error {
  override readonly name = 'CountersignFailure';
  readonly type: FailureType;
  /** Structured data for the caller. By convention one object, in `details[0]`. */
  readonly details: readonly unknown[];
  /** True if a retry cannot succeed. */
  readonly nonRetryable: boolean;
  /** Overrides the retry policy's delay before the next attempt. Null: the retry policy decides. */
  readonly nextRetryDelayMs: number | null;

  constructor(parts: {
    readonly type: FailureType;
    readonly message: string;
    readonly nonRetryable: boolean;
    readonly details?: readonly unknown[];
    readonly nextRetryDelayMs?: number | null;
    readonly cause?: unknown;
  }) {
    super(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.type = parts.type;
    this.details = parts.details ?? [];
    this.nonRetryable = parts.nonRetryable;
    this.nextRetryDelayMs = parts.nextRetryDelayMs ?? null;
  }

  /** A failure that a retry may resolve. */
  static retryable(message: string, type: FailureType, ...details: readonly unknown[]): CountersignFailure {
    return new CountersignFailure({ message, type, details, nonRetryable: false });
  }

  /** A failure that a retry cannot resolve. */
  static nonRetryable(message: string, type: FailureType, ...details: readonly unknown[]): CountersignFailure {
    return new CountersignFailure({ message, type, details, nonRetryable: true });
  }
}

/** Bad input, refused before anything was written. Never retried. */
export function invalid(field: string, expected: string, got: string, whatToDo: string): CountersignFailure {
  return CountersignFailure.nonRetryable(
    `${field}: expected ${expected}, got ${got}. ${whatToDo}`,
    FailureType.Validation,
    { field, expected, got },
  );
}

/** The bundle, the plan and this process do not match. Never retried: one of them must be changed first. */
export function misconfigured(message: string, details: Readonly<Record<string, unknown>> = {}): CountersignFailure {
  return CountersignFailure.nonRetryable(message, FailureType.Configuration, details);
}

/** The plan was revoked, or this worker can no longer recompute it. Never retried; the change must be submitted again. */
export function policyMoved(message: string): CountersignFailure {
  return CountersignFailure.nonRetryable(message, FailureType.PolicyMoved);
}

/** A value does not match its hash. Never retried: the value was forged, or there is a bug. */
export function digestMismatch(what: string, expected: string, got: string): CountersignFailure {
  return CountersignFailure.nonRetryable(`${what}: expected ${expected}, got ${got}`, FailureType.DigestMismatch, {
    what,
    expected,
    got,
  });
}

/** No adapter is registered for this source tool. Never retried, and the change is never approved. */
export function unknownSourceTool(sourceTool: string, known: readonly string[]): CountersignFailure {
  return CountersignFailure.nonRetryable(
    `sourceTool: expected one of ${known.join(', ')}, got "${sourceTool}". A tool of your own is registered by a module in COUNTERSIGN_EXTENSIONS`,
    FailureType.UnknownDiffType,
    { field: 'sourceTool', sourceTool },
  );
}
