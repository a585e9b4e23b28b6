import { CountersignError } from '../client/errors';
import type { GatewayDeps } from './deps';

/** The tenant of a review; null if the review does not exist. Throws `worker_unavailable` before a review worker has opened it. */
export async function tenantOfReview(
  reviews: Pick<GatewayDeps['reviews'], 'tenantOf'>,
  changeId: string,
): Promise<string | null> {
  try {
    return await reviews.tenantOf(changeId);
  } catch (error) {
    if (error instanceof CountersignError && error.code === 'not_found') return null;
    throw error;
  }
}

/** W2. The message for a review that does not exist and for one of another tenant, so that they cannot be told apart. */
export function noReview(changeId: string): string {
  return `No review ${changeId} in a tenant of this key. If the change was submitted and its workflow ended before it was opened, submit it again: the answer says why`;
}
