import { Hono } from 'hono';
import { CountersignError } from '../../client/errors';
import { KeyRight } from '../../policy/evidence/predicates';
import type { Callers } from '../callers';
import type { GatewayDeps } from '../deps';

/** GET /v1/key: the registry entry of the key that signed the request, as an operator signed it, for the caller to verify. */
export function keyRoutes({ registration }: GatewayDeps, callers: Callers): Hono {
  const routes = new Hono();
  routes.get('/', async (c) => {
    const { key } = await callers.authenticate(c, 0, ...KeyRight.options);
    const found = await registration(key.keyId);
    if (found === null) throw new CountersignError('not_found', `No key ${key.keyId}`);
    return c.json(found);
  });
  return routes;
}
