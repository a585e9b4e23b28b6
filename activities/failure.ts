import { ApplicationFailure } from '@temporalio/common';
import { FailureType } from '../policy/contracts/failure-type';

/** Bad input, refused before anything was written. Never retried. */
export function invalid(field: string, expected: string, got: string, whatToDo: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `${field}: expected ${expected}, got ${got}. ${whatToDo}`,
    FailureType.Validation,
    { field, expected, got },
  );
}

/** Bundle, plan and this process do not fit together. Never retried: somebody must change one of them. */
export function misconfigured(message: string, details: Readonly<Record<string, unknown>> = {}): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, FailureType.Configuration, details);
}

/** The plan was revoked, or can no longer be recomputed here. Never retried; the client offers to submit again. */
export function policyMoved(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, FailureType.PolicyMoved);
}

/** What was handed over does not hash to what it says. Never retried: it is a forgery or a bug. */
export function digestMismatch(what: string, expected: string, got: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${what}: expected ${expected}, got ${got}`, FailureType.DigestMismatch, {
    what,
    expected,
    got,
  });
}

/** No adapter here reads this tool's diffs (F10). Never retried, never approved. */
export function unknownSourceTool(sourceTool: string, known: readonly string[]): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `sourceTool: expected one of ${known.join(', ')}, got "${sourceTool}". Register it with defineSourceTool`,
    FailureType.UnknownDiffType,
    { sourceTool },
  );
}
