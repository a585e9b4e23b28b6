/**
 * HTTP for agents and the inbox, which have no credentials of Temporal or the database. The gateway has no signing key, so it
 * cannot forge submissions or answers.
 *
 * W1 A request takes effect only if an active key signed exactly this request: method, path, body, time and nonce.
 * W2 A key has only the rights, and only in the tenants, that an operator signed into its registry entry. A review of another
 *    tenant looks as if it did not exist.
 * W3 Answers are relayed only as signed envelopes that would count; the others are refused here, with a row in the ledger. The
 *    review checks them again when it admits them.
 */
import { Hono, type Context } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { Callers } from './callers';
import type { GatewayDeps } from './deps';
import { healthRoutes } from './health-routes';
import { toCountersignError, toErrorResponse } from './http-errors';
import { createInbox } from './inbox/app';
import { createGatewayMetrics, type GatewayMetrics } from './metrics';
import { AnswerRelay } from './answer-relay';
import { answerRoutes } from './routes/answers';
import { diffRoutes, submissionRoutes } from './routes/submissions';
import { keyRoutes } from './routes/key';
import { policyRoutes } from './routes/policy';
import { reviewRoutes } from './routes/reviews';

export type { GatewayDeps } from './deps';

export function createGateway(deps: GatewayDeps): Hono {
  const app = new Hono();
  const metrics = deps.metrics ?? createGatewayMetrics();
  const callers = new Callers(deps, metrics);
  const relay = new AnswerRelay(deps, metrics);
  addMiddleware(app, metrics);
  addErrorMapping(app, deps);
  app.route('/', healthRoutes(deps.probes, deps.now, deps.log));
  app.route('/v1/key', keyRoutes(deps, callers));
  app.route('/v1/policy', policyRoutes(deps, callers));
  app.route('/v1/diffs', diffRoutes(deps, callers));
  app.route('/v1/reviews', submissionRoutes(deps, callers));
  app.route('/v1/reviews', reviewRoutes(deps, callers));
  app.route('/v1/reviews', answerRoutes(deps, callers, relay));
  if (deps.inbox !== null) {
    app.get('/', (c) => c.redirect('/inbox/'));
    app.route('/inbox', createInbox(deps, deps.inbox, { relay, metrics }));
  }
  return app;
}

function addMiddleware(app: Hono, metrics: GatewayMetrics): void {
  const headers = secureHeaders({
    contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    xFrameOptions: 'DENY',
  });
  // The inbox sets its own, for its page.
  app.use(async (c, next) => (/^\/inbox(\/|$)/.test(c.req.path) ? await next() : await headers(c, next)));
  app.use(async (c, next) => {
    const began = performance.now();
    await next();
    if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store');
    metrics.observe({
      method: c.req.method,
      route: routeOf(c),
      status: c.res.status,
      seconds: (performance.now() - began) / 1000,
    });
  });
}

function addErrorMapping(app: Hono, deps: GatewayDeps): void {
  app.onError((thrown, c) => {
    const error = toCountersignError(thrown);
    const { status, body } = toErrorResponse(error);
    if (status >= 500) deps.log.error({ route: routeOf(c), code: error.code, reason: error.message }, 'request failed');
    if (status === 401) c.header('WWW-Authenticate', 'Countersign');
    return c.json(body, status);
  });
  app.notFound((c) => {
    const message = `The gateway has no route ${c.req.method} ${c.req.path}. Check the address of the gateway`;
    return c.json({ error: { code: 'not_found', message } }, 404);
  });
}

/** The pattern of the route, not the path: an id would make a new time series. */
function routeOf(c: Context): string {
  const route = c.req.matchedRoutes.findLast((matched) => matched.method !== 'ALL' && !matched.path.endsWith('*'));
  return route?.path ?? 'none';
}
