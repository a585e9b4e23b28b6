import { ASSETS, Browser, inboxWorld } from './world';

const world = inboxWorld();
const browser = new Browser(world.app);

it('serves the page at every path of the inbox, uncached, and its files for ever', async () => {
  for (const path of ['/inbox/', '/inbox/reviews/abc', '/inbox/numbers']) {
    const page = await browser.get(path);
    expect([page.status, await page.text()]).toEqual([200, '<!doctype html>']);
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  }
  const script = await browser.get('/inbox/assets/inbox-1a2b.js');
  expect([script.status, await script.text()]).toEqual([200, 'script']);
  expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  const gzipped = await browser.get('/inbox/assets/inbox-1a2b.js', { 'accept-encoding': 'br, gzip' });
  expect([gzipped.headers.get('content-encoding'), await gzipped.text()]).toEqual(['gzip', 'gzipped script']);
  const moved = async (path: string): Promise<unknown> => {
    const { status, headers } = await world.app.request(`http://gateway${path}`);
    return [status, headers.get('location')];
  };
  expect([await moved('/inbox'), await moved('/')]).toEqual([
    [308, '/inbox/'],
    [302, '/inbox/'],
  ]);
});

it('may be opened by a link of another site', async () => {
  expect((await browser.get('/inbox/', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).status).toBe(
    200,
  );
});

it.each([
  'other.js',
  'index.html',
  '../app.js',
  '..%2fapp.js',
  '%2e%2e/%2e%2e/package.json',
  '....//....//package.json',
  'inbox-1a2b.js/../../../package.json',
  'inbox-1a2b.js%00',
  '%5c..%5cpackage.json',
  '/etc/passwd',
  'file:///etc/passwd',
  '__proto__',
  'constructor',
  'inbox-1a2b.js/',
  'INBOX-1A2B.JS',
  '.',
  '%',
])('serves no other file: assets/%s', async (name) => {
  const response = await world.app.request(`http://gateway/inbox/assets/${name}`);
  const text = await response.text();
  // A path that leaves assets/ when it is normalized is the page or another route, never a file.
  expect(text === '<!doctype html>' || response.status === 404).toBe(true);
  expect(text).not.toContain('root:');
  expect(text).not.toContain('"dependencies"');
});

it('says how to build the page if it was not built, and still serves the API', async () => {
  const unbuilt = inboxWorld({ inbox: { assets: null } });
  const page = await unbuilt.app.request('http://gateway/inbox/');
  expect(page.status).toBe(503);
  expect(await page.text()).toContain('node scripts/build-inbox.mjs');
  expect((await unbuilt.app.request('http://gateway/inbox/assets/inbox-1a2b.js')).status).toBe(404);
  expect((await unbuilt.app.request('http://gateway/inbox/api/trust')).status).toBe(200);
});

it('sets the headers of the inbox on every response, of errors too', async () => {
  for (const path of [
    '/inbox/',
    '/inbox/assets/inbox-1a2b.js',
    '/inbox/assets/x',
    '/inbox/api/session',
    '/inbox/api/x',
  ]) {
    const { headers } = await browser.get(path);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self'",
      "font-src 'none'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
      'report-uri /inbox/api/csp',
    ]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('permissions-policy')).toContain('publickey-credentials-get=(self)');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  }
  expect((await browser.get('session')).headers.get('cache-control')).toBe('no-store');
  expect((await world.app.request('http://gateway/healthz')).headers.get('content-security-policy')).toBe(
    "default-src 'none'; frame-ancestors 'none'",
  );
});

it('counts reports of violations of the content security policy, bounded in size and number', async () => {
  const report = async (body: string): Promise<number> =>
    (await browser.post('csp', body, { 'content-type': 'application/csp-report', origin: undefined })).status;
  expect(await report('{}')).toBe(204);
  expect(await report('x'.repeat(16 * 1024 + 1))).toBe(413);
  for (let i = 0; i < 700; i++) await report('{}');
  const text = await world.metrics.registry.metrics();
  expect(text).toContain('countersign_gateway_csp_reports_total 600');
});

it('says whom it trusts, without a session', async () => {
  expect(await (await browser.get('trust')).json()).toEqual({ operators: ['op'], committers: ['com'] });
  expect(ASSETS.files.size).toBe(1);
});
