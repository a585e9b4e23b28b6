import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually';
import { paymentChange } from './support/changes';
import { describeInBrowser } from './support/chromium';
import { useEnvironment } from './support/environment';
import { openWindow, takeSeat, type Seat } from './support/seat';

const MAX_TABS = 60;

describeInBrowser('the keyboard alone', () => {
  const environment = useEnvironment();
  let seat: Seat;
  let page: Page;
  jest.setTimeout(240_000);
  beforeAll(async () => {
    // Enrols the passkey, which the window below gets a copy of.
    const enrolled = await takeSeat(environment(), 'bob', { ownPasskey: true });
    seat = await openWindow(environment(), 'bob');
    page = seat.page;
    for (const credential of await enrolled.authenticator.credentials())
      await seat.authenticator.add({ ...credential, signCount: credential.signCount + 100 });
    await enrolled.close();
  }, 240_000);
  afterAll(() => seat.close());

  const focused = async (): Promise<string> =>
    await page.evaluate(() => {
      const { activeElement } = (
        globalThis as unknown as { document: { activeElement: { textContent: string } | null } }
      ).document;
      return (activeElement?.textContent ?? '').trim();
    });
  async function tabTo(text: RegExp): Promise<void> {
    for (let i = 0; i < MAX_TABS; i++) {
      await page.keyboard.press('Tab');
      if (text.test(await focused())) return;
    }
    throw new Error(`Tab does not reach ${String(text)}`);
  }

  test('login, list, evidence, reason and signature need no pointer', async () => {
    const { system } = environment();
    const { changeId } = await system.submit(paymentChange(401));
    await system.waiting(changeId);
    await page.goto(`${environment().origin}/inbox/`);
    await page.getByRole('button', { name: 'Log in with a passkey' }).waitFor();
    await tabTo(/^Log in with a passkey$/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your turn' }).waitFor();

    // Search for the review, leave the field, and open it.
    await eventually('the search box has the focus', async () => {
      await page.keyboard.press('/');
      return await page.getByRole('searchbox').evaluate((box) => box.matches(':focus'));
    });
    await page.keyboard.type(changeId.slice(0, 12));
    await page.keyboard.press('Escape');
    await eventually('one review is listed', async () => (await page.locator('.review-item').count()) === 1);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Why it asks' }).waitFor();

    // Neither a key without a card that has the focus nor one below the help does anything.
    await page.keyboard.press('r');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('n');
    await page.keyboard.press('r');
    await page.keyboard.press('u');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('button', { name: 'Reject' }).getAttribute('aria-pressed')).toBe('false');

    await page.keyboard.press('n');
    await tabTo(/^Go to/);
    await page.keyboard.press('Enter');
    const confirm = page.getByRole('button', { name: 'Confirm' });
    await eventually('the evidence was seen', () => confirm.isEnabled());
    await page.keyboard.press('n');
    await page.keyboard.press('c');
    expect(await confirm.getAttribute('aria-pressed')).toBe('true');
    await eventually('the reason has the focus', async () => {
      await page.keyboard.press('Tab');
      return await page
        .getByLabel(/^Reason/)
        .evaluate(
          (element) =>
            element === (globalThis as unknown as { document: { activeElement: unknown } }).document.activeElement,
        );
    });
    await page.keyboard.type('agreed, by keyboard');
    await page.keyboard.press('Escape');
    await page.keyboard.press('s');
    // Where an answer was not sent, the focus is still on the button that sends it again.
    await page.route('**/answers', (route) => route.abort());
    await page.keyboard.press('Enter');
    await page.getByText('The gateway did not answer').waitFor();
    expect(await focused()).toMatch(/^Sign 1 answer$/);
    await page.unroute('**/answers');
    await page.keyboard.press('Enter');
    await eventually('the answer counts', async () =>
      (await system.ledger(changeId)).some(({ row }) => row.kind === 'answer_accepted'),
    );
    expect((await system.ended(changeId)).state).toBe('COMMITTED');
  });

  test('every control can be reached with Tab, and the focus is visible', async () => {
    const { system } = environment();
    const { changeId } = await system.submit(paymentChange(402));
    await system.waiting(changeId);
    const other = await takeSeat(environment(), 'alice');
    const { page: view } = other;
    for (const hash of ['#/turn', '#/all', '#/numbers', `#/review/${changeId}`]) {
      await view.goto(`${environment().origin}/inbox/${hash}`);
      await view.getByRole('button', { name: 'Log out' }).waitFor();
      await view.waitForTimeout(700);
      const missed = await view.evaluate(mark);
      for (let i = 0; i < missed + 20; i++) {
        await view.keyboard.press('Tab');
        await view.evaluate(visit);
      }
      expect([hash, await view.evaluate(unvisited)]).toEqual([hash, []]);
      expect([hash, await view.evaluate(invisibleFocus)]).toEqual([hash, []]);
    }
    await other.close();
  });
});

interface Control {
  readonly tagName: string;
  readonly textContent: string;
  readonly disabled?: boolean;
  /** False inside of what is folded. */
  checkVisibility(): boolean;
  readonly dataset: Record<string, string>;
}
interface View {
  readonly document: {
    readonly activeElement: Control;
    querySelectorAll(selector: string): Iterable<Control>;
  };
  getComputedStyle(element: Control): Readonly<Record<string, string>>;
}

/** Marks each visible control; their number. */
function mark(): number {
  const { document } = globalThis as unknown as View;
  let count = 0;
  for (const control of document.querySelectorAll('a[href], button, input, select, textarea, summary'))
    if (control.checkVisibility() && control.disabled !== true) control.dataset['toVisit'] = String(++count);
  return count;
}

/** Notes that the control with the focus was reached, and whether that shows. */
function visit(): void {
  const { document, getComputedStyle } = globalThis as unknown as View;
  const control = document.activeElement;
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(control);
  const shows = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
  control.dataset['visited'] = shows ? 'visibly' : 'invisibly';
}

function unvisited(): string[] {
  const { document } = globalThis as unknown as View;
  return Array.from(
    document.querySelectorAll('[data-to-visit]:not([data-visited])'),
    ({ tagName, textContent }) => `${tagName} ${textContent.slice(0, 60)}`,
  );
}

function invisibleFocus(): string[] {
  const { document } = globalThis as unknown as View;
  return Array.from(
    document.querySelectorAll('[data-visited=invisibly]'),
    ({ tagName, textContent }) => `${tagName} ${textContent.slice(0, 60)}`,
  ).filter((text) => !text.startsWith('BODY'));
}
