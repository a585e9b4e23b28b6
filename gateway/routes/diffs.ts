import { Hono } from 'hono';
import { CountersignError } from '../../client/errors';
import { parseInput } from '../../client/parse';
import { MAX_DIFF_BYTES, Sha256Hex } from '../../policy/contracts/diff';
import { sha256Hex } from '../../policy/contracts/hash';
import { NOTHING_DONE, type Callers } from '../callers';
import type { GatewayDeps } from '../deps';
import { storeCall } from '../http-errors';

/** PUT /v1/diffs/:sha256 */
export function diffRoutes({ store }: GatewayDeps, callers: Callers): Hono {
  const routes = new Hono();
  routes.put('/:sha256', async (c) => {
    const caller = await callers.authenticate(c, MAX_DIFF_BYTES, 'submit');
    const digest = parseInput(Sha256Hex, c.req.param('sha256'), NOTHING_DONE);
    const tenant = callers.tenantOf(c, caller);
    const { body } = caller;
    if (body.length === 0)
      throw new CountersignError('invalid_input', 'body: expected at least one byte, got 0', { field: 'body' });
    const actual = sha256Hex(body);
    if (actual !== digest)
      throw new CountersignError('invalid_input', `sha256: the path says ${digest}, the body hashes to ${actual}`, {
        field: 'sha256',
      });
    await storeCall(() => store.put(tenant, body));
    return c.json({ diffSha: digest, bytes: body.length }, 201);
  });
  return routes;
}
