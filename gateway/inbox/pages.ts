import { Hono, type Context } from 'hono';
import type { InboxAsset, InboxAssets } from './deps';

const NOT_BUILT =
  'The inbox page is not built. Build it with: node scripts/build-inbox.mjs (in the sources of Countersign), then start the gateway again.\n';

/** `/inbox/` and its files. Names are looked up in the list of built files, never in the file system. */
export function pageRoutes(assets: InboxAssets | null): Hono {
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
