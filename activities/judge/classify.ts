import { CountersignFailure } from '../../policy/contracts/failure';
import { APIConnectionError, APIError } from 'openai';
import type { JudgeCause } from '../../policy/decide/judge-failure';
import { FetchRefused } from './model-client';
import { backendFailure } from './judge-failures';

/**
 * Converts what a model call threw into a CountersignFailure. `timedOutAfterMs` is the deadline if it passed, else null.
 * An unknown error becomes a retryable backend failure, never a verdict.
 */
export function failureOfCall(error: unknown, timedOutAfterMs: number | null): CountersignFailure {
  if (error instanceof CountersignFailure) return error;
  const refused = fetchRefusalIn(error);
  if (refused !== null) return backendFailure(refused.judgeCause, refused.message, { retryable: refused.retryable });
  if (timedOutAfterMs !== null)
    return backendFailure('timeout', `no complete answer within ${timedOutAfterMs} ms`, { retryable: true });
  if (error instanceof APIError && typeof error.status === 'number') return failureOfStatus(error, error.status);
  if (error instanceof APIConnectionError || isNetworkError(error))
    return backendFailure('connection', `the connection failed${codeOf(error)}`, { retryable: true });
  if (error instanceof SyntaxError)
    return backendFailure('not_json', "the server's answer is not valid JSON", { retryable: true });
  return backendFailure(
    'bad_envelope',
    `the server's answer could not be used (${error instanceof Error ? error.name : typeof error})`,
    { retryable: true },
  );
}

function failureOfStatus(error: InstanceType<typeof APIError>, status: number): CountersignFailure {
  const code = safeCode(error.code);
  const { cause, retryable } = ofStatus(status, code);
  const shouldRetry = error.headers?.get('x-should-retry');
  const details = { status, ...(code === null ? {} : { code }) };
  return backendFailure(cause, `the server answered ${status}${code === null ? '' : ` ${code}`}`, {
    retryable: shouldRetry === 'true' ? true : shouldRetry === 'false' ? false : retryable,
    retryAfterMs: retryAfterMs(error.headers, Date.now()),
    details,
  });
}

/**
 * True if the server refused `response_format` itself: servers that do not know it answer 400 or 422 before they generate
 * anything. They name the parameter in `param`, in the message or in a validation report.
 */
export function refusesResponseFormat(error: unknown): boolean {
  if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return false;
  const said = `${error.param ?? ''} ${error.message} ${JSON.stringify(error.error ?? null)}`;
  return said.includes('response_format') || said.includes('json_schema');
}

function ofStatus(status: number, code: string | null): { readonly cause: JudgeCause; readonly retryable: boolean } {
  if (code === 'insufficient_quota' || code === 'billing_hard_limit_reached')
    return { cause: 'quota', retryable: false };
  if (code === 'content_filter' || code === 'content_policy_violation')
    return { cause: 'content_filter', retryable: false };
  switch (status) {
    case 400:
    case 405:
    case 422:
      return { cause: 'bad_request', retryable: false };
    case 401:
    case 403:
      return { cause: 'authentication', retryable: false };
    case 402:
      return { cause: 'quota', retryable: false };
    case 404:
      return { cause: 'not_found', retryable: false };
    case 413:
      return { cause: 'too_large', retryable: false };
    case 408:
      return { cause: 'timeout', retryable: true };
    case 409:
    case 425:
      return { cause: 'http_status', retryable: true };
    case 429:
      return { cause: 'rate_limited', retryable: true };
    default:
      return status >= 500 ? { cause: 'server_error', retryable: true } : { cause: 'http_status', retryable: false };
  }
}

/** Milliseconds from `retry-after-ms`, or from `retry-after` in seconds or as a date. Null if absent or malformed. */
export function retryAfterMs(headers: Headers | undefined, now: number): number | null {
  const ms = headers?.get('retry-after-ms');
  if (ms !== null && ms !== undefined && /^\d{1,9}(?:\.\d{1,9})?$/.test(ms)) return Math.ceil(Number(ms));
  const after = headers?.get('retry-after');
  if (after === null || after === undefined) return null;
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(after)) return Math.ceil(Number(after) * 1000);
  // Date.parse accepts nearly any text with a number. All three HTTP date formats (RFC 9110 §5.6.7) start with the day.
  const date = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(after) ? Date.parse(after) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** The server's error code if it is a short identifier. Other text may be prose or an echo of the key or the diff. */
function safeCode(code: unknown): string | null {
  return typeof code === 'string' && code.length <= 64 && /^[a-z]+(?:_[a-z]+)*$/.test(code) ? code : null;
}

function fetchRefusalIn(error: unknown): FetchRefused | null {
  let next: unknown = error;
  for (let depth = 0; depth < 5 && next instanceof Error; depth++) {
    if (next instanceof FetchRefused) return next;
    next = next.cause;
  }
  return null;
}

/** fetch reports a network error as a TypeError with a system error as its cause. */
function isNetworkError(error: unknown): boolean {
  return error instanceof TypeError && (error.message === 'fetch failed' || error.message === 'terminated');
}

/** A system error's code, such as ECONNREFUSED. */
function codeOf(error: unknown): string {
  let next: unknown = error;
  for (let depth = 0; depth < 5 && next instanceof Error; depth++) {
    const { code } = next as { code?: unknown };
    if (typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code)) return ` (${code})`;
    next = next.cause;
  }
  return '';
}
