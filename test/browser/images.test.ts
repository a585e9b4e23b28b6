import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/root';
import { creditChange, flagChange, patchChange, paymentChange, planChange } from './support/changes';
import { describeInBrowser } from './support/chromium';
import { useEnvironment } from './support/environment';
import { cards, choose, openReview } from './support/review-page';
import { screenImage } from './support/screen-image';
import { takeSeat } from './support/seat';
import { temporalUiImages } from './support/temporal-ui';

const FOLDER = join(ROOT, 'docs', 'images');
const NAMES = ['inbox-list', 'inbox-review', 'inbox-patch', 'inbox-dark', 'inbox-phone'];
const MAX_BYTES = 150_000;

/** `UPDATE_IMAGES=1 npm run test:browser -- images` makes the images of the documentation again. */
describeInBrowser('the images of the documentation', () => {
  const environment = useEnvironment();
  jest.setTimeout(240_000);
  const path = (name: string): string => join(FOLDER, `${name}.png`);

  test('show the inbox', async () => {
    if (process.env['UPDATE_IMAGES'] !== '1')
      return expect(NAMES.map(path).filter((file) => !existsSync(file))).toEqual([]);
    const { system, repository, api } = environment();
    api.documents.set('/v1/flags/beta', { on: false });
    const changes = [creditChange('spring credit'), paymentChange(7), patchChange(repository.tip())];
    const ids: string[] = [];
    for (const change of [...changes, flagChange(`${api.url}/flags/beta`), planChange()]) {
      const { changeId } = await system.submit(change);
      await system.waiting(changeId);
      ids.push(changeId);
    }
    const [credit, , patch, , plan] = ids;
    const seat = await takeSeat(environment(), 'alice', { height: 760 });
    const { page } = seat;
    await page.goto(`${environment().origin}/inbox/#/turn`);
    await page.locator('.review-item').nth(3).waitFor();
    await page.screenshot({ path: path('inbox-list') });
    await openReview(page, credit ?? '');
    await choose(cards(page).first(), 'confirm', 'The campaign is agreed');
    await page.evaluate(() => (globalThis as unknown as { scrollTo(x: number, y: number): void }).scrollTo(0, 0));
    await page.screenshot({ path: path('inbox-review') });
    await openReview(page, patch ?? '');
    await page.screenshot({ path: path('inbox-patch') });
    await seat.close();
    const dark = await takeSeat(environment(), 'alice', { colors: 'dark', height: 760 });
    await openReview(dark.page, plan ?? '');
    await dark.page.screenshot({ path: path('inbox-dark') });
    await dark.close();
    const phone = await takeSeat(environment(), 'bob', { width: 360, height: 740 });
    await openReview(phone.page, credit ?? '');
    await phone.page.screenshot({ path: path('inbox-phone') });
    await phone.close();
  });

  test('show the Temporal UI', async () => {
    const [waiting, closed] = [path('temporal-ui'), path('temporal-ui-closed')];
    if (process.env['UPDATE_IMAGES'] === '1') await temporalUiImages(environment(), waiting, closed);
    expect([existsSync(waiting), existsSync(closed)]).toEqual([true, true]);
  });

  test('show what `countersign show` prints', async () => {
    const file = path('countersign-show');
    if (process.env['UPDATE_IMAGES'] === '1') await screenImage('show: sql, 80 columns', file);
    expect(existsSync(file)).toBe(true);
  });

  test('are small, and the documentation shows each of them', () => {
    const texts = ['README.md', 'docs/operate.md', 'docs/quickstart/gateway.md']
      .map((file) => readFileSync(join(ROOT, file), 'utf8'))
      .join('\n');
    for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.png'))) {
      expect([file, statSync(join(FOLDER, file)).size < MAX_BYTES]).toEqual([file, true]);
      expect([file, texts.includes(file)]).toEqual([file, true]);
    }
  });
});
