import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import { failureMessage, type JudgeCause } from '../../policy/decide/judge-failure';

/** Upper limit of a server's retry-after, because the review's deadline keeps running. */
const MAX_RETRY_DELAY_MS = 300_000;

/**
 * The model server gave no usable answer. `retryable`: the same request may succeed later; `retryAfterMs` is the delay
 * that the server requested. `text` must not quote the server: an error page may echo the prompt or the key.
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

/** The model answered, but not with a valid verdict. Never retried: another answer would be another chance to pass. */
export function parseFailure(
  cause: 'answer' | 'truncated',
  text: string,
  details: Readonly<Record<string, unknown>> = {},
): CountersignFailure {
  return CountersignFailure.nonRetryable(failureMessage(cause, text), FailureType.VerdictParse, { cause, ...details });
}

/** No renderer supports this source tool, or the bytes are not text. Nothing was sent to a server. Not retryable. */
export function unreadableDiff(cause: 'unknown_source_tool' | 'undecodable', text: string): CountersignFailure {
  return CountersignFailure.nonRetryable(failureMessage(cause, text), FailureType.UnknownDiffType, { cause });
}
