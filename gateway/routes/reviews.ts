import { Hono } from 'hono';
import { z } from 'zod';
import { parseInput } from '../../client/parse';
import type { ReviewResult } from '../../client/result';
import { Name } from '../../policy/contracts/diff';
import { ReviewState } from '../../policy/contracts/outcome';
import { NOTHING_DONE, ReviewPath, type Callers } from '../callers';
import type { GatewayDeps } from '../deps';
import { evidenceResponse } from '../evidence-response';

/** How long a request may wait for the end of a review. */
const MAX_WAIT_MS = 60_000;
const NOT_OPENED: ReviewResult = { state: 'PENDING', status: null };
const IntegerText = z
  .string()
  .regex(/^[0-9]{1,6}$/, 'expected a whole number')
  .transform(Number);
const ResultQuery = z.strictObject({ waitMs: IntegerText.pipe(z.int().max(MAX_WAIT_MS)).default(0) });
const BundleQuery = z.strictObject({
  inclusion: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
});
const ListQuery = z.strictObject({
  tenant: Name.optional(),
  state: ReviewState.optional(),
  target: Name.optional(),
  idPrefix: z
    .string()
    .regex(/^[0-9a-f]{8,64}$/, 'expected 8 to 64 lower-case hex digits')
    .optional(),
  limit: IntegerText.pipe(z.int().min(1).max(500)).optional(),
  after: z.string().max(500).optional(),
});

/**
 * GET /v1/reviews, /v1/reviews/:id and /v1/reviews/:id/result. The second is the evidence of the review, open or closed, for the
 * caller to verify. The gateway has no trusted committers: every outcome in the third is marked as unverified.
 */
export function reviewRoutes({ reviews, stopping }: GatewayDeps, callers: Callers): Hono {
  const routes = new Hono();
  routes.get('/', async (c) => {
    const caller = await callers.authenticate(c, 0, 'read');
    const query = parseInput(ListQuery, c.req.query(), NOTHING_DONE);
    return c.json(await reviews.list({ ...query, tenant: callers.tenantOf(c, caller) }));
  });
  routes.get('/:id', async (c) => {
    const caller = await callers.authenticate(c, 0, 'read');
    const { inclusion } = parseInput(BundleQuery, c.req.query(), NOTHING_DONE);
    const changeId = await callers.reviewOf(c, caller);
    return await evidenceResponse(c, reviews, { changeId, inclusion, key: caller.key });
  });
  routes.get('/:id/result', async (c) => {
    const caller = await callers.authenticate(c, 0, 'read');
    const { waitMs } = parseInput(ResultQuery, c.req.query(), NOTHING_DONE);
    const opened = await callers.openedReviewOf(c, caller);
    const changeId = opened ?? parseInput(ReviewPath, c.req.param(), NOTHING_DONE).id;
    const result = await reviews.result(changeId, { timeoutMs: waitMs, signal: stopping });
    // The tenant is known once the review is opened. A caller of another one learns only how long this request waited.
    if (opened === null && (await callers.openedReviewOf(c, caller)) === null) return c.json(NOT_OPENED);
    return c.json(result);
  });
  return routes;
}
