import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import { failureMessage, type JudgeCause } from '../../policy/decide/judge-failure';

/** Longer waits than this are cut: the review's own deadline runs meanwhile. */
export const MAX_RETRY_DELAY_MS = 300_000;

/**
 * No usable answer came (F20). `retryable`: the same request may fare better later; then `retryAfterMs` is what the
 * server asked for. The text never holds what the server wrote: an error page may echo the prompt or the key.
 */
export function backendFailure(
  cause: JudgeCause,
  text: string,
  options: {
    readonly retryable: boolean;
    readonly retryAfterMs?: number | null;
    readonly details?: Readonly<Record<string, unknown>>;
  },
): CountersignFailure {
  const delay = options.retryAfterMs ?? null;
  return new CountersignFailure({
    type: FailureType.Backend,
    message: failureMessage(cause, text),
    nonRetryable: !options.retryable,
    details: [{ cause, ...options.details }],
    nextRetryDelayMs: options.retryable && delay !== null && delay > 0 ? Math.min(delay, MAX_RETRY_DELAY_MS) : null,
  });
}

/** An answer came, and is no strict verdict (F21). Retried at most once, and never where the text says BLOCK. */
export function parseFailure(
  cause: 'answer' | 'truncated',
  text: string,
  options: { readonly retryable: boolean; readonly details?: Readonly<Record<string, unknown>> },
): CountersignFailure {
  return new CountersignFailure({
    type: FailureType.VerdictParse,
    message: failureMessage(cause, text),
    nonRetryable: !options.retryable,
    details: [{ cause, ...options.details }],
  });
}

/** No renderer reads this, or the bytes are no text (F10, F22). Nothing was sent anywhere. Never retried. */
export function unreadableDiff(cause: 'unknown_source_tool' | 'undecodable', text: string): CountersignFailure {
  return CountersignFailure.nonRetryable(failureMessage(cause, text), FailureType.UnknownDiffType, { cause });
}
