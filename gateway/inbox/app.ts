/**
 * The inbox: a page for approvers, and what it reads and sends (api.ts). Served by the gateway under `/inbox/`.
 *
 * X1 The gateway has no key: an answer counts because a passkey signed it. A session only decides what is shown and relayed.
 * X2 Requests that another site can make a browser send are refused (same-origin.ts), and the session cookie is not sent with them.
 * X3 What the page verifies (rows, bytes, policy) is sent as the ledger has it; lists and numbers have no authority.
 */
import { Hono, type Context } from 'hono';
import { readBody } from '../../client/http-body';
import type { GatewayDeps } from '../deps';
import type { GatewayMetrics } from '../metrics';
import { Readiness } from '../readiness';
import type { InboxDeps, InboxAsset, InboxAssets } from './deps';
import { enrollRoutes } from './enroll';
import { EventHub } from './event-hub';
import { inboxHeaders } from './headers';
import { loginRoutes } from './login';
import { Rate } from './rate';
import { inboxReviewRoutes, type ReviewRouteDeps } from './reviews';
import { sameOrigin } from './same-origin';
import { Sessions } from './session';
import { numberRoutes } from './team-numbers';
import { Viewers } from './viewer';
import { streamSSE } from 'hono/streaming';

/** Of the whole process in a minute. Both need no login. */
const MAX_CHALLENGES = 600;
const MAX_REPORTS = 600;
const MAX_REPORT_BYTES = 16 * 1024;
/** A page learns within two seconds that a service is down. */
const SERVICE_BOUNDS = { timeoutMs: 1_000, maxAgeMs: 250 };

/** Everything under `/inbox`. */
export function createInbox(
  gateway: Pick<GatewayDeps, 'probes' | 'now' | 'log' | 'stopping'> & Pick<ReviewRouteDeps, 'reviews'>,
  inbox: InboxDeps,
  { relay, metrics }: Pick<ReviewRouteDeps, 'relay' | 'metrics'>,
): Hono {
  const { now, reviews, log } = gateway;
  const sessions = new Sessions(inbox);
  const readiness = new Readiness(gateway.probes, now, SERVICE_BOUNDS);
  const hub = new EventHub({ ...inbox, readiness, sessions, now, log });
  gateway.stopping.addEventListener('abort', () => hub.close());
  const login = { ...inbox, sessions, metrics, now, challengeRate: new Rate(MAX_CHALLENGES, 60_000) };
  const api = new Hono();
  api.route('/', reportRoutes(metrics, now)); // Before the check: browsers send reports with other content types.
  api.use(sameOrigin(inbox.origin, metrics));
  api.get('/trust', (c) => c.json(inbox.trust));
  api.route('/', loginRoutes({ ...login, ended: (tokenSha) => hub.end(tokenSha) }));
  api.route('/', enrollRoutes(login));
  api.route('/', eventRoutes(hub, sessions));
  api.route('/', numberRoutes(inbox.numbers, sessions, now));
  api.route(
    '/reviews',
    inboxReviewRoutes({ ...inbox, reviews, sessions, relay, metrics, viewers: new Viewers(inbox, now) }),
  );
  api.all('*', (c) => c.notFound());
  const app = new Hono();
  app.use(inboxHeaders);
  app.get('/', async (c, next) => (c.req.path === '/inbox' ? c.redirect('/inbox/', 308) : await next()));
  app.route('/api', api);
  app.route('/', pageRoutes(inbox.assets));
  return app;
}

/** Violations of the content security policy are counted, never stored: anyone can send them. */
function reportRoutes(metrics: GatewayMetrics, now: () => number): Hono {
  const rate = new Rate(MAX_REPORTS, 60_000);
  const routes = new Hono();
  routes.post('/csp', async (c) => {
    await readBody(c.req.raw, MAX_REPORT_BYTES);
    if (rate.take(now())) metrics.cspReport();
    return c.body(null, 204);
  });
  return routes;
}

/** `GET /events`: server-sent events until the session, the page or the process ends. */
function eventRoutes(hub: EventHub, sessions: Sessions): Hono {
  const routes = new Hono();
  routes.get('/events', async (c) => {
    // V2. The page connects again by itself, and an EventSource sends no header of its own.
    const queue = await hub.join(await sessions.of(c, false));
    return streamSSE(c, async (stream) => {
      stream.onAbort(() => queue.close());
      try {
        for (let event = await queue.next(); event !== null && !stream.aborted; event = await queue.next())
          await stream.writeSSE({ data: JSON.stringify(event) });
      } finally {
        queue.close();
      }
    });
  });
  return routes;
}

const NOT_BUILT =
  'The inbox page is not built. Build it with: node scripts/build-inbox.mjs (in the sources of Countersign), then start the gateway again.\n';

/** `/inbox/` and its files. Names are looked up in the list of built files, never in the file system. */
function pageRoutes(assets: InboxAssets | null): Hono {
  const routes = new Hono();
  routes.get('/assets/:name{.+}', (c) => {
    const asset = assets?.files.get(c.req.param('name'));
    if (asset === undefined) return c.notFound();
    return serve(c, asset, 'public, max-age=31536000, immutable');
  });
  // The page reads its own path, so every other path under /inbox/ is the page.
  routes.get('/*', (c) => (assets === null ? c.text(NOT_BUILT, 503) : serve(c, assets.index, 'no-store')));
  return routes;
}

function serve(c: Context, { bytes, gzipped, type }: InboxAsset, caching: string): Response {
  const gzip = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
  const body = new Uint8Array(gzip ? gzipped : bytes);
  return c.body(body, 200, {
    'Content-Type': type,
    'Cache-Control': caching,
    Vary: 'Accept-Encoding',
    ...(gzip ? { 'Content-Encoding': 'gzip' } : {}),
  });
}
