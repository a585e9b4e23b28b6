import { CountersignError, isTransient } from '../../client/errors';
import type { ReviewResult } from '../../client/result';
import type { Io } from '../action';
import type { Connected } from './connection';

/** The pause before a server that did not answer is asked again. */
export const POLL_MS = 2_000;

/**
 * Waits for the end of a review, at most `timeoutMs`, also while its server restarts. Throws at once if the server does not answer the
 * first call, which does not wait.
 */
export async function waitForEnd(
  io: Io,
  { reviews }: Pick<Connected, 'reviews'>,
  changeId: string,
  timeoutMs: number,
): Promise<ReviewResult> {
  const until = io.host.now().getTime() + timeoutMs;
  const first = await reviews.result(changeId);
  if (first.state !== 'PENDING' || timeoutMs === 0) return first;
  for (;;) {
    const left = Math.max(0, until - io.host.now().getTime());
    const result = await orTransient(reviews.result(changeId, { timeoutMs: left }), left > POLL_MS);
    if (!(result instanceof CountersignError)) return result;
    await io.host.sleep(POLL_MS);
  }
}

/** The result, or, if `retried`, the error of a call that can succeed later. */
export async function orTransient(
  result: Promise<ReviewResult>,
  retried: boolean,
): Promise<ReviewResult | CountersignError> {
  try {
    return await result;
  } catch (error) {
    if (retried && isTransient(error)) return error;
    throw error;
  }
}
