import type { Page, Request } from 'playwright-core';
import { eventually } from '../support/eventually';
import { attackPage, PAGE_ATTACKS } from './attacks/cross-site-requests';
import { paymentChange } from './support/changes';
import { describeInBrowser } from './support/chromium';
import { useEnvironment } from './support/environment';
import { startOtherSite, type OtherSite } from './support/other-site';
import { takeSeat, type Seat } from './support/seat';

/** In a real browser, with its cookies and its rules. `test/gateway/inbox/cross-site.test.ts` has the variants of the headers. */
describeInBrowser('requests of other sites and origins', () => {
  const environment = useEnvironment();
  let seat: Seat;
  let other: OtherSite;
  let changeId: string;
  jest.setTimeout(240_000);
  beforeAll(async () => {
    const { system } = environment();
    seat = await takeSeat(environment(), 'bob');
    other = await startOtherSite();
    ({ changeId } = await system.submit(paymentChange(11)));
    await system.waiting(changeId);
  }, 240_000);
  afterAll(async () => {
    await seat.close();
    await other.stop();
  });

  const rowCount = async (): Promise<number> => (await environment().system.ledger(changeId)).length;
  /** A body whose name no row of the change has: an equal one would add no row. */
  const named = (name: string): object => ({ differences: [{ name, detail: 'of a test' }] });

  /** A request of the inbox itself. */
  const differ = async (name: string): Promise<void> => {
    const { origin } = environment();
    const response = await seat.context.request.post(`${origin}/inbox/api/reviews/${changeId}/differences`, {
      headers: { origin, 'sec-fetch-site': 'same-origin' },
      data: named(name),
    });
    expect(response.status()).toBe(204);
  };

  test('the session works, so that a refusal below has another reason', async () => {
    await differ('first');
    expect((await environment().system.ledger(changeId)).at(-1)?.row.kind).toBe('refused');
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
        const path = name.startsWith('a form with GET') ? '/inbox/api/logout' : target;
        other.show(attackPage(origin, path, JSON.stringify(named('forged')), code));
        const unanswered = unansweredOf(page);
        await page.goto(`http://${host}:${other.port}/`);
        await page.waitForTimeout(name.includes('window') ? 700 : 150);
        await eventually(`${name}: the answers`, () => unanswered.size === 0);
        const found = page.isClosed() ? [] : await stolenBy(page);
        expect([host, name, found]).toEqual([host, name, []]);
        for (const opened of seat.context.pages()) if (opened !== seat.page) await opened.close();
      }
    // The gateway has handled all requests before this one, which it accepts.
    await differ('last');
    expect(await rowCount()).toBe(before + 1);
    expect((await seat.context.request.get(`${origin}/inbox/api/session`)).status()).toBe(200);
  });
});

/** The requests of the page that neither have an answer nor have failed. */
function unansweredOf(page: Page): ReadonlySet<Request> {
  const requests = new Set<Request>();
  page.on('request', (request) => void requests.add(request));
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', (request) => void requests.delete(request));
  return requests;
}

/** What the code of the page could read. After a navigation there is nothing. */
async function stolenBy(page: { evaluate<T>(read: () => T): Promise<T> }): Promise<readonly string[]> {
  return await page.evaluate(() => (globalThis as unknown as { found?: string[] }).found ?? []);
}
