import type { Page, Request } from 'playwright-core';
import { AUTOMATIC_HEADER } from '../../gateway/inbox/api';
import { MAX_DIFF_BYTES } from '../../policy/contracts/diff';
import { eventually } from '../support/eventually';
import { describeInBrowser } from './support/chromium';
import { creditChange, paymentChange } from './support/changes';
import { useEnvironment } from './support/environment';
import { cards, choose, openReview, sign } from './support/review-page';
import { takeSeat, type Seat } from './support/seat';
import { textOf } from './support/injected';
import type { SwitchProxy } from '../support/switch-proxy';

describeInBrowser('what happens while a review is open on the page', () => {
  const environment = useEnvironment();
  let alice: Seat;
  let page: Page;
  let payments = 300;
  jest.setTimeout(240_000);
  beforeAll(async () => {
    alice = await takeSeat(environment(), 'alice', { ownPasskey: true });
    page = alice.page;
  }, 240_000);
  afterAll(() => alice.close());

  async function opened(change = paymentChange(++payments)): Promise<string> {
    const { system } = environment();
    const { changeId } = await system.submit(change);
    await system.waiting(changeId);
    await openReview(page, changeId);
    return changeId;
  }
  const noAnswers = async (): Promise<boolean> =>
    (await page.getByRole('button', { name: /^(Confirm|Reject)$/ }).count()) === 0;

  test('another person answers: the page says who, and what was typed is kept', async () => {
    const { system } = environment();
    const changeId = await opened(creditChange(`live ${Date.now()}`));
    const card = cards(page).nth(1);
    await card.getByRole('button', { name: 'Reject' }).click();
    await card.getByLabel(/^Reason/).fill('I am still typing');
    const status = await system.waiting(changeId);
    const [first] = status.violations.filter(({ need }) => need === 'human');
    await system.countersign.answer(changeId, system.sign(status, 'bob', 'confirm', [first?.violationId ?? '']));
    const news = page.getByText('This review changed.');
    await news.waitFor();
    expect(await textOf(page)).toMatch(/bob/);
    expect(await card.getByLabel(/^Reason/).inputValue()).toBe('I am still typing');
    await system.countersign.answer(
      changeId,
      system.sign(status, 'bob', 'reject', [status.violations[1]?.violationId ?? '']),
    );
    await eventually('the page is read-only', noAnswers);
    await page
      .getByText(/^Rolled back/)
      .first()
      .waitFor();
  });

  test('only what the person asks for keeps the session in use, not what the page reads because a review changed', async () => {
    const { system } = environment();
    const sent: [path: string, automatic: boolean][] = [];
    const record = (request: Request): void => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/inbox/api/')) sent.push([pathname, AUTOMATIC_HEADER in request.headers()]);
    };
    page.on('request', record);
    try {
      const changeId = await opened();
      const bundle = `/inbox/api/reviews/${changeId}/bundle`;
      const causes = (path: string): boolean[] => sent.flatMap(([to, automatic]) => (to === path ? [automatic] : []));
      expect(causes(bundle)).toContain(false);
      sent.length = 0;
      await system.countersign.withdraw(changeId, { actor: 'dana', reason: 'not needed' });
      await eventually('the page is read-only', noAnswers);
      expect(new Set(causes(bundle))).toEqual(new Set([true]));
      expect(new Set(causes('/inbox/api/reviews'))).not.toContain(false);
    } finally {
      page.off('request', record);
    }
  });

  test('the agent withdraws: the page says so and offers no answer', async () => {
    const { system } = environment();
    const changeId = await opened();
    await system.countersign.withdraw(changeId, { actor: 'dana', reason: 'not needed' });
    await eventually('the page is read-only', noAnswers);
    await page
      .getByText(/withdrawn/i)
      .first()
      .waitFor();
  });

  test('the key that signed the submission is revoked: the page says that the change cannot be committed', async () => {
    const { system } = environment();
    const label = { kind: 'service', onBehalfOf: 'carol', subject: { type: 'agent', id: 'revoked-agent' } } as const;
    const key = await system.addKey(label);
    const change = { target: 'shop', requestKey: `revoked-${Date.now()}`, ...paymentChange(++payments) };
    const { changeId } = await system.client(key).submit(change);
    await system.waiting(changeId);
    await openReview(page, changeId);
    const warning = page.getByText('The key that signed the submission was revoked').first();
    expect(await warning.count()).toBe(0);
    await system.revokeKey(key.keyId);
    await warning.waitFor({ timeout: 60_000 });
  });

  test('the deadline passes: the page counts down, says that it is rolled back, and offers no answer', async () => {
    await opened({
      sourceTool: 'SQLDryRun',
      raw: `UPDATE customers SET note = 'soon ${Date.now()}' WHERE id = 5`,
      metadata: { table_name: 'customers', affected_rows: 1, soon: true },
    });
    await page.getByText('then it is rolled back').waitFor();
    await eventually('the page is read-only', noAnswers);
    await page
      .getByText(/^Rolled back/)
      .first()
      .waitFor({ timeout: 60_000 });
    expect(await textOf(page)).toMatch(/expired|deadline/i);
  });

  test('the row changed before the answer: the review ends, and the page names why', async () => {
    const { system } = environment();
    const id = ++payments;
    await opened(paymentChange(id));
    await system.shop('update payments set version = 99 where id = $1', [id]);
    await choose(cards(page).first(), 'confirm', 'agreed');
    await sign(page);
    await page
      .getByText(/stale base/i)
      .first()
      .waitFor({ timeout: 60_000 });
  });

  const outages: readonly (readonly [string, () => SwitchProxy])[] = [
    ['The database does not answer', () => environment().database],
    ['Temporal does not answer', () => environment().temporal],
  ];
  test.each(outages)(
    '%s: the page says so, an answer is neither lost nor dropped, and it works again afterwards',
    async (words, proxy) => {
      const changeId = await opened();
      const card = cards(page).first();
      await choose(card, 'confirm', 'kept over the outage');
      const banner = page.getByText(words);
      await proxy().down();
      try {
        // Two seconds on an idle machine.
        await banner.waitFor({ timeout: 60_000 });
        await sign(page);
        await page.getByRole('alert').first().waitFor({ timeout: 90_000 });
        expect(await card.getByLabel(/^Reason/).inputValue()).toBe('kept over the outage');
      } finally {
        await proxy().up();
      }
      await banner.waitFor({ state: 'detached', timeout: 60_000 });
      await eventually(
        'the answer counts',
        async () => {
          const button = page.getByRole('button', { name: /^Sign 1 answer$/ });
          if ((await button.count()) > 0 && (await button.isEnabled())) await button.click();
          const rows = await environment().system.ledger(changeId);
          return rows.some(({ row }) => row.kind === 'answer_accepted');
        },
        { everyMs: 1_000 },
      );
    },
  );

  test('the gateway is silent: the page says so, and connects again', async () => {
    const { pid } = environment().gateway;
    const banner = page.getByText('Disconnected from the gateway');
    process.kill(pid, 'SIGSTOP');
    try {
      // An event comes every ten seconds at the latest.
      await banner.waitFor({ timeout: 90_000 });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await banner.waitFor({ state: 'detached', timeout: 90_000 });
  });

  test('a statement of one line that is higher than the window counts as seen, so it can be confirmed', async () => {
    const change = creditChange(`long ${Date.now()}`);
    await opened({ ...change, raw: String(change.raw).replace(' SET', ` /* ${'a long reason '.repeat(1500)}*/ SET`) });
    await choose(cards(page).first(), 'confirm', 'read');
    expect(await cards(page).first().getByRole('button', { name: 'Confirm' }).getAttribute('aria-pressed')).toBe(
      'true',
    );
  });

  test('a patch of the largest size is shown whole, scrolls, and leads from a finding to its line', async () => {
    const { repository } = environment();
    const lines = Array.from({ length: 11_400 }, (_, n) => `+const value${n} = ${n}; // ${'-'.repeat(50)} line ${n}`);
    lines[11_000] = '+const hidden = "\u202egnirts\u202c"; // not what it seems';
    const raw = `diff --git a/src/big.ts b/src/big.ts\nnew file mode 100644\n--- /dev/null\n+++ b/src/big.ts\n@@ -0,0 +1,${lines.length} @@\n${lines.join('\n')}\n`;
    expect(raw.length).toBeGreaterThan(MAX_DIFF_BYTES * 0.95);
    await opened({ target: 'repo', sourceTool: 'GitPatch', raw, metadata: { base_commit: repository.tip() } });
    const text = page.getByRole('region', { name: 'Text of the change' });
    expect(await text.locator('.line').count()).toBeGreaterThanOrEqual(lines.length);
    const place = page.getByRole('button', { name: /^Go to .*1100\d/ }).first();
    await place.click();
    const marked = text.locator('.line').filter({ hasText: 'not what it seems' });
    expect(await marked.innerText()).toContain('\u27e6U+202E\u27e7');
    await eventually('the line is on screen', async () => {
      const box = await marked.boundingBox();
      return box !== null && box.y >= 0 && box.y < 800;
    });
    expect(await page.evaluate(scrollThrough)).toEqual({ atEnd: true, frames: 60 });
  });
});

/** Scrolls from the start to the end in steps, and waits for a frame after each. */
async function scrollThrough(): Promise<{ readonly atEnd: boolean; readonly frames: number }> {
  const view = globalThis as unknown as {
    requestAnimationFrame(callback: (at: number) => void): void;
    scrollBy(x: number, y: number): void;
    scrollTo(x: number, y: number): void;
    readonly scrollY: number;
    readonly innerHeight: number;
    readonly document: { readonly documentElement: { readonly scrollHeight: number } };
  };
  const frame = (): Promise<number> => new Promise((resolve) => view.requestAnimationFrame(resolve));
  view.scrollTo(0, 0);
  let frames = 0;
  for (; frames < 60; frames++) {
    view.scrollBy(0, 5_000);
    await frame();
  }
  const bottom = view.scrollY + view.innerHeight;
  return { atEnd: bottom >= view.document.documentElement.scrollHeight - 1, frames };
}
