import { CHANGE } from '../../client/fakes';
import { ORIGIN } from '../../support/passkey';
import { inboxWorld, loggedIn, sessionOf, type Browser, type InboxWorld } from './world';

const CHANGING = [
  'login/begin',
  'login/finish',
  'logout',
  `reviews/${CHANGE}/answers`,
  `reviews/${CHANGE}/differences`,
];
const READING = ['session', 'reviews?tab=all', `reviews/${CHANGE}/bundle`, 'numbers', 'events', 'trust'];

const OTHER_ORIGINS = [
  undefined,
  'null',
  '',
  '*',
  'file://',
  'chrome-extension://abcdefghijklmnop',
  'countersign.example',
  'https://evil.example',
  'http://localhost',
  'https://127.0.0.1',
  'https://[::1]',
  'http://countersign.example',
  `${ORIGIN}:80`,
  `${ORIGIN}:8443`,
  `${ORIGIN}.`,
  `${ORIGIN}0`,
  `${ORIGIN}.evil.example`,
  `${ORIGIN}/`,
  `${ORIGIN}/inbox/`,
  `${ORIGIN}?`,
  `${ORIGIN}#x`,
  'https://COUNTERSIGN.EXAMPLE',
  'https://sub.countersign.example',
  'https://evilcountersign.example',
  'https://evil@countersign.example',
  'https://countersign.example:pass@countersign.example',
  `${ORIGIN} https://evil.example`,
  // As the server joins a header that is sent twice.
  `${ORIGIN}, https://evil.example`,
  `https://evil.example, ${ORIGIN}`,
  `https://evil.example#${ORIGIN}`,
];
const OTHER_SITES = ['cross-site', 'same-site', 'none', '', 'SAME-ORIGIN', 'Cross-Site', 'same-origin, cross-site'];
/** Content types that a form or a simple request of another site can have, and near misses. */
const OTHER_TYPES = [
  undefined,
  '',
  'text/plain',
  'text/plain;charset=UTF-8',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain; application/json',
  'text/plain, application/json',
  'application/jsonp',
  'application/json-seq',
  'application/json, text/plain',
  'application/json; charset=utf-16',
  'application/csp-report',
  'text/json',
];

const VARIANTS: readonly (readonly [string, Readonly<Record<string, string | undefined>>])[] = [
  ...OTHER_ORIGINS.map((origin) => [`origin ${origin ?? 'absent'}`, { origin }] as const),
  ...OTHER_ORIGINS.map(
    (origin) => [`origin ${origin ?? 'absent'} of an old browser`, { origin, 'sec-fetch-site': undefined }] as const,
  ),
  ...OTHER_SITES.map((site) => [`site "${site}"`, { 'sec-fetch-site': site }] as const),
  ...OTHER_TYPES.map((type) => [`type ${type ?? 'absent'}`, { 'content-type': type }] as const),
  ...OTHER_TYPES.map(
    (type) =>
      [
        `form of another site, type ${type ?? 'absent'}`,
        { origin: 'https://evil.example', 'content-type': type },
      ] as const,
  ),
];

let world: InboxWorld;
let browser: Browser;
beforeAll(async () => {
  world = inboxWorld();
  browser = await loggedIn(world);
});

it('has at least 60 variants', () => expect(VARIANTS.length).toBeGreaterThanOrEqual(60));

it.each(VARIANTS)('refuses every request that changes something with %s', async (_what, headers) => {
  for (const path of CHANGING) {
    const response = await browser.post(path, '{}', headers);
    expect([path, response.status]).toEqual([path, 403]);
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  }
  expect(await sessionOf(browser)).toMatchObject({ person: 'alice' });
  expect([world.relayed, world.recorded, world.differences]).toEqual([[], [], []]);
});

it.each(['cross-site', 'same-site', 'anything'])('refuses to read for a page of another origin: %s', async (site) => {
  for (const path of READING) {
    const response = await browser.get(path, { 'sec-fetch-site': site });
    expect([path, response.status]).toEqual([path, 403]);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  }
});

it('never grants a CORS preflight', async () => {
  for (const path of [...CHANGING, ...READING]) {
    const response = await world.app.request(`${ORIGIN}/inbox/api/${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });
    expect(response.status).toBe(403);
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
});

it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD'])('changes nothing with the method %s', async (method) => {
  for (const path of CHANGING) {
    const response = await world.app.request(`${ORIGIN}/inbox/api/${path}?_method=POST`, {
      method,
      headers: {
        origin: ORIGIN,
        'content-type': 'application/json',
        cookie: `__Host-countersign=${browser.cookies.get('__Host-countersign')}`,
      },
    });
    expect(response.status).toBe(404);
  }
  expect(await sessionOf(browser)).toMatchObject({ person: 'alice' });
});

it('counts what it refuses', async () => {
  expect(await world.metrics.registry.metrics()).toMatch(/countersign_gateway_refused_total\{why="cross_site"\} [1-9]/);
});
