import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually';
import { describeInBrowser } from './support/chromium';
import { paymentChange } from './support/changes';
import { useEnvironment } from './support/environment';
import { takeSeat, type Seat } from './support/seat';

describeInBrowser('the list of reviews', () => {
  const environment = useEnvironment();
  let alice: Seat;
  let page: Page;
  jest.setTimeout(240_000);
  beforeAll(async () => {
    alice = await takeSeat(environment(), 'alice');
    page = alice.page;
  }, 240_000);
  afterAll(() => alice.close());

  const search = () => page.getByRole('searchbox');
  const tab = (name: string) => page.getByRole('navigation', { name: 'Inbox' }).getByRole('link', { name });

  test('a review that has ended has no deadline, and search and filters stay after a review was opened and after a reload', async () => {
    const { system } = environment();
    const { changeId } = await system.submit(paymentChange(471));
    await system.waiting(changeId);
    await tab('All').click();
    await search().fill(changeId.slice(0, 16));
    const listed = page.locator('.review-item');
    await eventually('the list has only this review', async () => (await listed.count()) === 1);
    await listed.getByText(/^rolled back in/).waitFor();
    await system.countersign.withdraw(changeId, { actor: 'dana', reason: 'not needed' });
    await listed.getByText('Rolled back: withdrawn').waitFor();
    expect(await listed.innerText()).not.toMatch(/rolled back in/);

    await page.getByText('Filters', { exact: true }).click();
    await page.getByLabel('Outcome').selectOption('withdrawn');
    await page.waitForURL(new RegExp(`#/all\\?search=${changeId.slice(0, 16)}&outcome=withdrawn$`));
    const kept = async (): Promise<void> => {
      await listed.waitFor();
      expect(await search().inputValue()).toBe(changeId.slice(0, 16));
      await page.getByText('Filters (1)').waitFor();
    };
    await listed.getByRole('link').click();
    await page.locator('article.review').waitFor();
    await page.goBack();
    await kept();
    await page.reload();
    await kept();
    await tab('All').click();
    await page.getByText('Filters', { exact: true }).waitFor();
    expect(await search().inputValue()).toBe('');
  });
});
