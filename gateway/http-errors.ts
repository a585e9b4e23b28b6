import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { CountersignError, ErrorCode } from '../client/errors';

/** What every refusal looks like on the wire. */
export interface ErrorBody {
  readonly error: { readonly code: ErrorCode; readonly field?: string; readonly message: string };
}

const STATUS: { readonly [C in ErrorCode]: ContentfulStatusCode } = {
  invalid_input: 400,
  unauthenticated: 401,
  not_eligible: 403,
  not_found: 404,
  diff_missing: 409,
  refused: 422,
  not_verified: 422,
  too_large: 413,
  too_many_requests: 429,
  temporal_unavailable: 503,
  worker_unavailable: 503,
  store_unavailable: 503,
  ledger_unavailable: 503,
  gateway_unavailable: 503,
  internal: 500,
};

export function toErrorResponse(error: CountersignError): {
  readonly status: ContentfulStatusCode;
  readonly body: ErrorBody;
} {
  const { code, field } = error;
  // Our own message for what is not the caller's doing: causes may name hosts, paths and tables.
  const message = STATUS[code] >= 500 ? (OWN_FAULT[code] ?? 'Something went wrong here') : error.message;
  return { status: STATUS[code], body: { error: { code, ...(field === undefined ? {} : { field }), message } } };
}

const OWN_FAULT: { readonly [C in ErrorCode]?: string } = {
  temporal_unavailable: 'Temporal did not answer in time. What was asked may have happened; asking again is safe',
  worker_unavailable: 'No review worker answered in time. The review waits; asking again is safe',
  store_unavailable: 'The store did not answer. Asking again is safe',
  ledger_unavailable: 'The ledger did not answer. Asking again is safe',
};
