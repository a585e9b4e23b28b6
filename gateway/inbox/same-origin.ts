import type { Context, MiddlewareHandler } from 'hono';
import type { GatewayMetrics } from '../metrics';

const JSON_TYPE = /^application\/json(;\s*charset=utf-8)?$/i;

/**
 * Refuses requests that another site can make a browser send. SameSite cookies alone would let sibling subdomains through.
 *
 * R1 A request that changes something has the `Origin` of the inbox, `Sec-Fetch-Site: same-origin` if the browser sends it, and the
 *    content type `application/json`, for which other origins need a CORS preflight that is never granted.
 * R2 A request that reads is refused if the browser says that another origin makes it.
 */
export function sameOrigin(origin: string, metrics: GatewayMetrics): MiddlewareHandler {
  return async (c, next) => {
    const why = c.req.method === 'GET' || c.req.method === 'HEAD' ? problemOfRead(c) : problemOfChange(c, origin);
    if (why !== null) throw metrics.refusal('cross_site', 'not_eligible', `${why}. Nothing was done`);
    await next();
  };
}

function problemOfRead(c: Context): string | null {
  const site = c.req.header('sec-fetch-site');
  return site === undefined || site === 'same-origin' || site === 'none'
    ? null
    : 'Another site made the browser send this request';
}

function problemOfChange(c: Context, origin: string): string | null {
  const sent = c.req.header('origin');
  if (sent !== origin) return `Expected the origin ${origin}; open the inbox there, or correct COUNTERSIGN_PUBLIC_URL`;
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return 'Another site made the browser send this request';
  return JSON_TYPE.test(c.req.header('content-type') ?? '') ? null : 'Expected the content type application/json';
}
