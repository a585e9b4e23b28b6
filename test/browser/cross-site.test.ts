import { attackPage, PAGE_ATTACKS, requestVariants, type RequestVariant } from './attacks/cross-site-requests';
import { paymentChange } from './support/changes';
import { describeInBrowser } from './support/chromium';
import { useEnvironment } from './support/environment';
import { startOtherSite, type OtherSite } from './support/other-site';
import { rawRequest, type RawRequest } from './support/raw-request';
import { takeSeat, type Seat } from './support/seat';

describeInBrowser('requests of other sites and origins', () => {
  const environment = useEnvironment();
  let seat: Seat;
  let other: OtherSite;
  let changeId: string;
  let cookie: string;
  jest.setTimeout(240_000);
  beforeAll(async () => {
    const { system } = environment();
    seat = await takeSeat(environment(), 'bob');
    other = await startOtherSite();
    ({ changeId } = await system.submit(paymentChange(11)));
    await system.waiting(changeId);
    cookie = (await seat.context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
  }, 240_000);
  afterAll(async () => {
    await seat.close();
    await other.stop();
  });

  const rowCount = async (): Promise<number> => (await environment().system.ledger(changeId)).length;
  const differences = JSON.stringify({ differences: [{ name: 'forged', detail: 'by another site' }] });

  /** As the page would send it, with the session, except for what the variant says. */
  function requestOf(origin: string, variant: RequestVariant): RawRequest {
    const { method = 'POST', site = 'same-origin', contentType = 'application/json' } = variant;
    const sent = variant.origin === true ? origin : variant.origin;
    return {
      method,
      headers: {
        cookie,
        ...(sent === null ? {} : { origin: sent }),
        ...(site === '' ? {} : { 'sec-fetch-site': site }),
        ...(contentType === null ? {} : { 'content-type': contentType }),
      },
      ...(method === 'GET' ? {} : { body: differences }),
    };
  }

  test('the session works, so that a refusal below has another reason', async () => {
    const { origin } = environment();
    const asPage = { name: 'as the page', origin: true as const };
    const response = await rawRequest(`${origin}/inbox/api/reviews/${changeId}/differences`, requestOf(origin, asPage));
    expect(response.status).toBe(204);
    expect((await environment().system.ledger(changeId)).at(-1)?.row.kind).toBe('refused');
  });

  test('60 variants of origin, site, content type and method change nothing, with the cookie of the session', async () => {
    const { origin } = environment();
    const before = await rowCount();
    const variants = requestVariants(origin);
    for (const path of [
      '/inbox/api/logout',
      `/inbox/api/reviews/${changeId}/differences`,
      `/inbox/api/reviews/${changeId}/answers`,
    ])
      for (const variant of variants) {
        const { status, headers } = await rawRequest(
          `${origin}${path}${variant.query ?? ''}`,
          requestOf(origin, variant),
        );
        expect([path, variant.name, status >= 400 && status < 500]).toEqual([path, variant.name, true]);
        expect([variant.name, headers['access-control-allow-origin']]).toEqual([variant.name, undefined]);
      }
    expect(await rowCount()).toBe(before);
    await stillLoggedIn();
    expect(variants.length + Object.keys(PAGE_ATTACKS).length * 2).toBeGreaterThanOrEqual(60);
  });

  test('reads for another site are refused, and no answer may be read by another origin', async () => {
    const { origin } = environment();
    const paths = ['session', 'trust', 'events', 'numbers?days=30', 'reviews?tab=turn', `reviews/${changeId}/bundle`];
    for (const path of paths)
      for (const site of ['cross-site', 'same-site']) {
        const response = await rawRequest(`${origin}/inbox/api/${path}`, {
          method: 'GET',
          headers: { cookie, 'sec-fetch-site': site },
        });
        expect([path, site, response.status]).toEqual([path, site, 403]);
        expect(response.headers['access-control-allow-origin']).toBeUndefined();
        expect(response.headers['cross-origin-resource-policy']).toBe('same-origin');
      }
  });

  test('pages of another site and of another port change nothing, read nothing and frame nothing', async () => {
    const { origin } = environment();
    // The window of the attack may reach every address.
    await seat.context.unroute((url: URL) => url.origin !== origin);
    await seat.context.unrouteAll();
    const before = await rowCount();
    const target = `/inbox/api/reviews/${changeId}/differences`;
    for (const host of ['127.0.0.1', 'localhost'])
      for (const [name, code] of Object.entries(PAGE_ATTACKS)) {
        const page = await seat.context.newPage();
        other.show(
          attackPage(origin, name.startsWith('a form with GET') ? '/inbox/api/logout' : target, differences, code),
        );
        await page.goto(`http://${host}:${other.port}/`);
        await page.waitForTimeout(name.includes('window') ? 700 : 150);
        const found = page.isClosed() ? [] : await stolenBy(page);
        expect([host, name, found]).toEqual([host, name, []]);
        for (const opened of seat.context.pages()) if (opened !== seat.page) await opened.close();
      }
    expect(await rowCount()).toBe(before);
    await stillLoggedIn();
  });

  test('a page cannot be framed by its own origin either', async () => {
    const response = await rawRequest(`${environment().origin}/inbox/`, { method: 'GET', headers: {} });
    expect(response.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(response.headers['x-frame-options']).toBe('DENY');
  });

  async function stillLoggedIn(): Promise<void> {
    const { status } = await rawRequest(`${environment().origin}/inbox/api/session`, {
      method: 'GET',
      headers: { cookie },
    });
    expect(status).toBe(200);
  }
});

/** What the code of the page could read. After a navigation there is nothing. */
async function stolenBy(page: { evaluate<T>(read: () => T): Promise<T> }): Promise<readonly string[]> {
  return await page.evaluate(() => (globalThis as unknown as { found?: string[] }).found ?? []);
}
