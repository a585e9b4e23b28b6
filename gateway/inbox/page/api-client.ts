/** Requests to the gateway, below `/inbox/api`. What they answer is shown as the gateway's statement; a review is verified first. */
import type { AnswerResults } from '../../../policy/contracts/answer';
import type { Envelope } from '../../../policy/contracts/diff';
import {
  AUTOMATIC_HEADER,
  type DifferenceReport,
  type EnrollmentCompletion,
  type EnrollmentOffer,
  type InboxError,
  type InboxSession,
  type InboxTrust,
  type LoginAssertion,
  type LoginChallenge,
  type Precedent,
  type ReviewList,
  type ReviewListQuery,
  type TeamNumbers,
} from '../api';

/** `code` is that of the gateway, or `unreachable` if there was no answer. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The failure of a request to the gateway. Throws any other error again. */
export function apiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

const TIMEOUT_MS = 60_000;
export const UNAUTHENTICATED = 401;
const base = new URL('api/', document.baseURI);

/** The gateway's time minus this machine's, in milliseconds, from the last response. */
let clockOffset = 0;

export function serverNow(): number {
  return Date.now() + clockOffset;
}

/** `at`: the gateway's time, ISO 8601 or as a header has it. */
export function learnServerTime(at: string | null): void {
  const time = at === null ? Number.NaN : Date.parse(at);
  if (Number.isFinite(time)) clockOffset = time - Date.now();
}

let unauthenticated = (): void => {};

/** Requests whose status 401 is about a passkey or a challenge. */
const WITHOUT_SESSION = /^(login|enroll)\//;

/** Calls `listener` after each response that says that the session has ended. */
export function onUnauthenticated(listener: () => void): void {
  unauthenticated = listener;
}

export function eventsUrl(): string {
  return new URL('events', base).href;
}

/** Who caused a request. Those of the page itself do not keep the session in use. */
export type Cause = 'person' | 'page';

export const api = {
  session: (cause: Cause) => get<InboxSession>('session', cause),
  trust: () => get<InboxTrust>('trust'),
  logout: () => post<undefined>('logout', {}),
  beginLogin: () => post<LoginChallenge>('login/begin', {}),
  finishLogin: (assertion: LoginAssertion) => post<InboxSession>('login/finish', assertion),
  beginEnrollment: (keyId: string) => post<EnrollmentOffer>('enroll/begin', { keyId }),
  finishEnrollment: (completion: EnrollmentCompletion) =>
    post<{ readonly person: string }>('enroll/finish', completion),
  reviews: (query: ReviewListQuery, cause: Cause) =>
    get<ReviewList>(`reviews?${new URLSearchParams({ ...query }).toString()}`, cause),
  bundle: (changeId: string, cause: Cause) => send('GET', `reviews/${changeId}/bundle`, null, cause),
  answer: (changeId: string, answers: readonly Envelope[]) =>
    post<AnswerResults>(`reviews/${changeId}/answers`, { answers }),
  reportDifferences: (changeId: string, report: DifferenceReport, cause: Cause) =>
    post<undefined>(`reviews/${changeId}/differences`, report, cause),
  precedents: (changeId: string, rule: string) =>
    get<readonly Precedent[]>(`reviews/${changeId}/precedents?${new URLSearchParams({ rule }).toString()}`),
  numbers: (days: number) => get<TeamNumbers>(`numbers?days=${days}`),
} as const;

async function get<T>(path: string, cause: Cause = 'person'): Promise<T> {
  return parsed<T>(await send('GET', path, null, cause));
}

async function post<T>(path: string, body: object, cause: Cause = 'person'): Promise<T> {
  return parsed<T>(await send('POST', path, JSON.stringify(body), cause));
}

async function send(method: 'GET' | 'POST', path: string, body: string | null, cause: Cause): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(new URL(path, base), {
      method,
      ...(body === null ? {} : { body }),
      headers: {
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...(cause === 'page' ? { [AUTOMATIC_HEADER]: '1' } : {}),
      },
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    learnServerTime(response.headers.get('date'));
    text = await response.text();
  } catch (error) {
    // A TypeError for a connection that failed, a DOMException for one that took too long.
    if (!(error instanceof TypeError || error instanceof DOMException)) throw error;
    throw new ApiError('unreachable', 0, 'The gateway did not answer. What you typed is kept; try again');
  }
  if (response.ok) return text;
  if (response.status === UNAUTHENTICATED && !WITHOUT_SESSION.test(path)) unauthenticated();
  throw refusal(response.status, text);
}

function refusal(status: number, text: string): ApiError {
  const said = parsed<Partial<InboxError> | undefined>(text)?.error;
  return new ApiError(
    said?.code ?? 'unreachable',
    status,
    said?.message ?? `The gateway answered with HTTP status ${status}`,
  );
}

function parsed<T>(text: string): T {
  if (text === '') return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // A proxy in between answered, not the gateway.
    throw new ApiError('unreachable', 0, 'The response is not from the gateway: it is not JSON');
  }
}
