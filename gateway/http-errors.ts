import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { CountersignError, messageOf, type ErrorCode } from '../client/errors';
import { CountersignFailure } from '../policy/contracts/failure';
import { FailureType } from '../policy/contracts/failure-type';
import { isDatabaseDown } from '../storage/database/database-down';

/** The JSON body of every error response. */
export interface ErrorBody {
  readonly error: { readonly code: ErrorCode; readonly field?: string; readonly message: string };
}

const STATUS: { readonly [C in ErrorCode]: ContentfulStatusCode } = {
  invalid_input: 400,
  unauthenticated: 401,
  not_eligible: 403,
  not_found: 404,
  diff_missing: 409,
  conflict: 409,
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

/** The response for any error of a route. A database that does not answer is `ledger_unavailable`, regardless of the table. */
export function toCountersignError(thrown: unknown): CountersignError {
  if (thrown instanceof CountersignError) return thrown;
  return new CountersignError(codeOf(thrown), messageOf(thrown), { cause: thrown });
}

function codeOf(thrown: unknown): ErrorCode {
  if (isDatabaseDown(thrown)) return 'ledger_unavailable';
  // An answer to a review whose plan this process cannot compute: the review refuses it as well, and no retry helps.
  const policyMoved = thrown instanceof CountersignFailure && thrown.type === FailureType.PolicyMoved;
  return policyMoved ? 'refused' : 'internal';
}

/** Maps every failure of the byte store to `store_unavailable`. */
export async function storeCall<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw new CountersignError('store_unavailable', messageOf(error), { cause: error });
  }
}

export function toErrorResponse(error: CountersignError): {
  readonly status: ContentfulStatusCode;
  readonly body: ErrorBody;
} {
  const { code, field } = error;
  // Server errors get a fixed message: their causes may name hosts, paths and tables.
  const message = STATUS[code] >= 500 ? (SERVER_ERROR_MESSAGES[code] ?? INTERNAL) : error.message;
  return { status: STATUS[code], body: { error: { code, ...(field === undefined ? {} : { field }), message } } };
}

const INTERNAL = 'Internal error of the gateway. The request may have taken effect; retrying is safe';
const SERVER_ERROR_MESSAGES: { readonly [C in ErrorCode]?: string } = {
  temporal_unavailable:
    'Temporal did not answer the gateway in time. The request may have taken effect; retrying is safe',
  worker_unavailable:
    'Temporal answers, but no review worker answered in time, or none has opened the review, so the ledger has no submission of it; or its workflow was lost, and a committer ends the review. Retrying is safe',
  store_unavailable: 'The byte store (PostgreSQL) did not answer the gateway. Retrying is safe',
  ledger_unavailable:
    'The ledger (PostgreSQL) did not answer the gateway. The request may have taken effect; retrying is safe',
};
