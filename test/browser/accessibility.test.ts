import type { Page } from 'playwright-core';
import type { DrivenChange } from '../../dev/review-driver';
import { RUN_ALL } from '../support/extent';
import { accessibilityViolations } from './support/axe';
import { creditChange, flagChange, patchChange, paymentChange, plainChange, planChange } from './support/changes';
import { describeInBrowser } from './support/chromium';
import { useEnvironment } from './support/environment';
import { unfoldAll } from './support/injected';
import { openReview } from './support/review-page';
import { openWindow, takeSeat, type Seat } from './support/seat';

/** Each set of colors and each width. `npm run test:browser` and `.ci/run` also test the other two combinations. */
const SAMPLE = [
  { colors: 'light', width: 1280 },
  { colors: 'dark', width: 360 },
] as const;
const OTHERS = [
  { colors: 'light', width: 360 },
  { colors: 'dark', width: 1280 },
] as const;
const WINDOWS = RUN_ALL ? [...SAMPLE, ...OTHERS] : SAMPLE;

describeInBrowser('accessibility', () => {
  const environment = useEnvironment();
  const reviews = new Map<string, string>();
  jest.setTimeout(240_000);
  beforeAll(async () => {
    const { system, repository, api } = environment();
    api.documents.set('/v1/flags/beta', { on: false });
    const changes: Readonly<Record<string, DrivenChange>> = {
      'an update of all rows': creditChange('accessible'),
      'one row': paymentChange(501),
      'a patch': patchChange(repository.tip()),
      'a JSON patch': flagChange(`${api.url}/flags/beta`),
      'a plan': planChange(),
      'plain text': plainChange(),
    };
    for (const [name, change] of Object.entries(changes)) {
      const { changeId } = await system.submit(change);
      await system.waiting(changeId);
      reviews.set(name, changeId);
    }
    const { changeId } = await system.submit(paymentChange(502));
    await system.answer(changeId, 'bob', 'reject');
    await system.ended(changeId);
    reviews.set('a closed review', changeId);
  }, 240_000);

  /** No violation of any impact, and nothing that is wider than the window. */
  async function expectAccessible(page: Page, what: string): Promise<void> {
    expect([what, await accessibilityViolations(page)]).toEqual([what, []]);
    const width = await page.evaluate(() => {
      const { document } = globalThis as unknown as { document: { documentElement: { scrollWidth: number } } };
      return document.documentElement.scrollWidth;
    });
    expect([what, width]).toEqual([what, page.viewportSize()?.width]);
  }

  test.each(WINDOWS)('axe finds nothing on any page: $colors, $width pixels wide', async ({ colors, width }) => {
    const { origin } = environment();
    const seat: Seat = await takeSeat(environment(), 'alice', { colors, width });
    const { page } = seat;
    try {
      for (const [hash, heading] of [
        ['#/turn', 'Your turn'],
        ['#/waiting', 'Waiting on others'],
        ['#/all', 'All reviews'],
        ['#/numbers', /./],
      ] as const) {
        await page.goto(`${origin}/inbox/${hash}`);
        await page.getByRole('heading', { level: 1, name: heading }).waitFor();
        await page.waitForTimeout(500);
        await expectAccessible(page, hash);
      }
      for (const [name, changeId] of reviews) {
        await openReview(page, changeId);
        await expectAccessible(page, name);
        await unfoldAll(page);
        await page.waitForTimeout(300);
        await expectAccessible(page, `${name}, unfolded`);
        const reject = page.getByRole('button', { name: 'Reject' }).first();
        if ((await reject.count()) > 0) {
          await reject.click();
          await expectAccessible(page, `${name}, with a reason`);
        }
      }
      await page.keyboard.press('Escape');
      // A narrow window, as on a phone, has no button for it.
      const help = page.getByRole('button', { name: 'Keyboard help' });
      if (await help.isVisible()) {
        await help.click();
        await expectAccessible(page, 'help');
        await page.getByRole('button', { name: 'Close' }).click();
      }
      await page.route('**/bundle', (route) => route.fulfill({ body: '{}' }));
      await page.goto(`${origin}/inbox/#/all`);
      await openReview(page, reviews.get('a patch') ?? '');
      await expectAccessible(page, 'a review that does not verify');
    } finally {
      await seat.close();
    }
  });

  test.each(WINDOWS)('axe finds nothing before the login: $colors, $width pixels wide', async (window) => {
    const seat = await openWindow(environment(), 'alice', window);
    try {
      await seat.page.goto(`${environment().origin}/inbox/`);
      await seat.page.getByRole('button', { name: 'Log in with a passkey' }).waitFor();
      await expectAccessible(seat.page, 'login');
      await seat.page.goto(`${environment().origin}/inbox/#enroll=${'A'.repeat(43)}`);
      await seat.page.reload();
      await seat.page.goto(`${environment().origin}/inbox/?again#enroll=${'A'.repeat(43)}`);
      await seat.page.getByRole('alert').waitFor();
      await expectAccessible(seat.page, 'a link that is not valid');
    } finally {
      await seat.close();
    }
  });
});
