import type { Page } from 'playwright-core';
import { createSigner } from '../../client/signer';
import { signAnswers } from '../../client/sign-answers';
import { hostileChanges } from './attacks/hostile-changes';
import { NOT_STRINGS, SCRIPT_STRINGS, storable } from './attacks/script-strings';
import { describeInBrowser } from './support/chromium';
import { useEnvironment, type Environment } from './support/environment';
import { injectedElements, textOf, unfoldAll } from './support/injected';
import { openReview } from './support/review-page';
import { takeSeat, type Seat } from './support/seat';
import { NOTHING } from './support/traps';
import { eventually } from '../support/eventually';

const MARK = '<script>xss()</script>';

describeInBrowser('strings that run code if they are rendered as anything but text', () => {
  const environment = useEnvironment();
  let seat: Seat;
  let page: Page;
  let lastOpened = '';
  jest.setTimeout(240_000);
  beforeAll(async () => {
    seat = await takeSeat(environment(), 'alice');
    page = seat.page;
  }, 240_000);
  afterAll(() => seat.close());
  afterEach(async () => {
    expect(await injectedElements(page)).toEqual([]);
    expect(seat.traps).toEqual(NOTHING);
  });

  test('the traps notice one that runs', async () => {
    const other = await takeSeat(environment(), 'alice');
    try {
      await other.page.evaluate(() => (globalThis as unknown as { xss(): void }).xss());
      await eventually('the trap', () => other.traps.executions.length === 1);
      // Trusted Types refuse the string, and the violation is reported.
      const add = (): void => {
        const { document } = globalThis as unknown as { document: { body: { innerHTML: string } } };
        document.body.innerHTML = '<img src=x onerror=xss()>';
      };
      await expect(other.page.evaluate(add)).rejects.toThrow('TrustedHTML');
      await eventually('the event and the report', () => other.traps.policyReports.length >= 2);
    } finally {
      await other.close();
    }
  });

  test('none runs in bytes, rows, names, claims, paths, pointers, headers, addresses, rules, policies or titles', async () => {
    const { system, api, repository } = environment();
    api.documents.set('/v1/flags/beta', { on: false });
    const opened: string[] = [];
    for (const [place, change] of Object.entries(hostileChanges(`${api.url}/flags/beta`, repository.tip()))) {
      const { changeId } = await system.submit(change);
      await eventually(`"${place}" is decided or waits`, () => isSettled(environment(), changeId), { everyMs: 100 });
      await openReview(page, changeId);
      await unfoldAll(page);
      expect([place, await textOf(page)]).toEqual([place, expect.stringContaining('xss()')]);
      await clickAll(page, /^(Go to|Side by side|Unified)/, 12);
      expect([place, await injectedElements(page), seat.traps]).toEqual([place, [], NOTHING]);
      opened.push(changeId);
      lastOpened = changeId;
    }
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await page.getByRole('list', { name: 'All reviews' }).getByRole('listitem').first().waitFor();
    expect(opened).toHaveLength(8);
  });

  test('none runs in the reasons of answers', async () => {
    const { system } = environment();
    const { changeId } = await system.submit({
      target: 'infra',
      sourceTool: 'PlainText',
      raw: 'reasons',
      metadata: { hostile: true },
    });
    const status = await system.waiting(changeId);
    const validity = { issuedAt: new Date(), expiresAt: new Date(Date.now() + 600_000) };
    const signer = createSigner(system.key('bob'));
    const review = { changeId, status, staging: null, preview: null };
    const answers = reasons().map((reason, n) => {
      const violationIds = [status.violations[n]?.violationId ?? ''];
      return signAnswers(changeId, review, { violationIds, decision: 'confirm', reason }, signer, validity);
    });
    const results = await system.countersign.answer(changeId, answers.flat());
    expect(new Set(Object.values(results).map(({ code }) => code))).toEqual(new Set(['accepted']));
    await openReview(page, changeId);
    await unfoldAll(page);
    await eventually('the reasons are shown', async () => (await textOf(page)).includes(MARK));
  });

  test('none runs in a session, list, numbers or errors that the gateway sends, of any type', async () => {
    const { origin } = environment();
    const shows = async (hash: string, text?: string): Promise<void> => {
      await page.goto(`${origin}/inbox/?${Math.random()}${hash}`);
      // Without a text there is nothing to wait for: the page may fail.
      if (text === undefined) await page.waitForTimeout(700);
      else await eventually(`${hash} shows ${text}`, async () => (await textOf(page)).includes(text));
      expect([hash, await injectedElements(page)]).toEqual([hash, []]);
    };
    const strings = { tenants: SCRIPT_STRINGS, person: MARK, temporalUi: 'javascript:xss()' };
    await forge(page, 'session', (session) => ({ ...session, ...strings }));
    await forge(page, 'reviews?', () => ({ items: SCRIPT_STRINGS.map(hostileItem), next: MARK, turnCount: MARK }));
    await forge(page, 'numbers', () => hostileNumbers(SCRIPT_STRINGS));
    for (const hash of ['#/turn', '#/all', '#/numbers']) await shows(hash, 'xss()');
    await openReview(page, lastOpened);
    await unfoldAll(page);
    expect(await injectedElements(page)).toEqual([]);

    await page.unrouteAll();
    const messages = SCRIPT_STRINGS.join('\n');
    await page.route('**/inbox/api/reviews?*', (route) =>
      route.fulfill({ status: 403, json: { error: { code: MARK, message: messages } } }),
    );
    await shows('#/all', MARK);

    // A page that cannot show a value of another type may fail, but it runs nothing.
    for (const value of NOT_STRINGS) {
      await page.unrouteAll();
      await forge(page, 'reviews?', () => ({ items: [hostileItem(value)], next: value, turnCount: value }));
      await forge(page, 'numbers', () => hostileNumbers([value]));
      await shows('#/all');
      await shows('#/numbers');
    }
    await page.unrouteAll();
    seat.traps.errors.length = 0;
    await shows('#/turn', 'Your turn');
  });

  test('none runs in the search box or in the address', async () => {
    await page.goto(`${environment().origin}/inbox/#/all`);
    const search = page.getByRole('searchbox');
    await search.waitFor();
    for (const text of SCRIPT_STRINGS) await search.fill(text.replaceAll(/[\n\r]/g, ' '));
    for (const text of storable(100).slice(0, 20)) {
      await search.fill(text.replaceAll(/[\n\r]/g, ' '));
      await page.waitForTimeout(300);
    }
    for (const text of SCRIPT_STRINGS) {
      await page.evaluate(
        (hash) => void ((globalThis as unknown as { location: { hash: string } }).location.hash = hash),
        text,
      );
      await page.evaluate(
        (hash) => void ((globalThis as unknown as { location: { hash: string } }).location.hash = hash),
        `#/review/${text}`,
      );
    }
    await page.goto(`${environment().origin}/inbox/?q=${encodeURIComponent(MARK)}#/review/${encodeURIComponent(MARK)}`);
    await page.getByRole('button', { name: 'Log out' }).waitFor();
  });
});

async function isSettled({ system }: Environment, changeId: string): Promise<boolean> {
  const rows = await system.ledger(changeId);
  return rows.some(({ row }) => row.kind === 'disclosed' || row.kind === 'closed');
}

async function clickAll(page: Page, name: RegExp, atMost: number): Promise<void> {
  const buttons = await page.locator('main').getByRole('button', { name }).all();
  for (const button of buttons.slice(0, atMost)) if (await button.isVisible()) await button.click();
}

/** Texts of at most 2000 characters with all strings that fit into one. */
function reasons(): readonly string[] {
  const texts: string[] = [''];
  for (const each of storable(1_900)) {
    const last = texts.at(-1) ?? '';
    if (last.length + each.length + 1 > 2_000) texts.push(each);
    else texts[texts.length - 1] = `${last} ${each}`;
  }
  return texts;
}

/** Replaces the answer of one path of the API. */
async function forge(page: Page, path: string, change: (real: object) => object): Promise<void> {
  await page.route(
    (url) => `${url.pathname}${url.search}`.startsWith(`/inbox/api/${path}`),
    async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: change((await response.json()) as object) });
    },
  );
}

function hostileItem(value: unknown): object {
  return {
    changeId: value,
    title: value,
    tenant: value,
    target: value,
    sourceTool: value,
    requester: value,
    state: value,
    reason: value,
    openedAt: value,
    deadlineAt: value,
    highestSeverity: value,
    pending: value,
    waitingForYou: [{ rule: value, since: value }],
  };
}

function hostileNumbers(values: readonly unknown[]): object {
  const row = (value: unknown): object => ({
    rule: value,
    group: value,
    asked: value,
    answers: value,
    confirmed: value,
    rejected: value,
    expired: value,
    medianSecondsToAnswer: value,
    confirmedWithin5s: value,
    tuneCommand: value,
  });
  return {
    days: 30,
    reviews: 1,
    committed: 1,
    rolledBack: 1,
    expired: 1,
    refusals: 1,
    medianSecondsToAnswer: 1,
    confirmedWithin5s: 0.5,
    byRule: values.map(row),
    byGroup: values.map(row),
  };
}
