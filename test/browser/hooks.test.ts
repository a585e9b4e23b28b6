import type { Browser } from 'playwright-core';
import { eventually } from '../support/eventually';
import { bundledPage } from './support/bundled-page';
import { describeInBrowser, launchChromium } from './support/chromium';

const TOP_BAR = 50;

describeInBrowser('evidence on screen', () => {
  let browser: Browser;
  let script: string;
  jest.setTimeout(60_000);
  beforeAll(async () => {
    script = bundledPage('coverage-page');
    browser = await launchChromium();
  }, 60_000);
  afterAll(() => browser.close());

  /** What counts as seen after a line of 20 pixels was at `y` for longer than half a second. The bar grows to `bar` before. */
  async function seen(y: number, bar: number, height = 600): Promise<string> {
    const page = await browser.newPage({ viewport: { width: 800, height } });
    try {
      await page.addScriptTag({ content: script, type: 'module' });
      await page.locator('#line').waitFor();
      await page.evaluate(`setBar(${bar})`);
      await page.evaluate(`scrollBy(0, document.getElementById('line').getBoundingClientRect().top - ${y})`);
      await page.waitForTimeout(900);
      return await page.title();
    } finally {
      await page.close();
    }
  }

  test('counts as seen between the two bars, and not behind one of them', async () => {
    expect(await seen(TOP_BAR + 5, 60)).toBe('line');
    expect(await seen(TOP_BAR - 30, 60)).toBe('');
    expect(await seen(600 - 60 - 25, 60)).toBe('line');
    expect(await seen(600 - 60 + 10, 60)).toBe('');
  });

  test('does not count as seen behind a bar that has grown, up to the middle of the window and over all of it', async () => {
    expect(await seen(600 - 200 - 25, 200)).toBe('line');
    expect(await seen(600 - 200 + 50, 200)).toBe('');
    expect(await seen(150, 200, 300)).toBe('');
    expect(await seen(TOP_BAR + 10, 200, 300)).toBe('line');
    expect(await seen(TOP_BAR + 10, 400, 300)).toBe('');
  });
});

describeInBrowser('the trusted keys of a page that stays open', () => {
  let browser: Browser;
  jest.setTimeout(60_000);
  beforeAll(async () => {
    browser = await launchChromium();
  }, 60_000);
  afterAll(() => browser.close());

  test('are read again after the events came back, and other keys are compared with those that the browser remembers', async () => {
    const page = await browser.newPage();
    let trust = { operators: ['o'], committers: ['first'] };
    await page.route('**/*', (route) =>
      route.request().url().endsWith('/api/trust')
        ? route.fulfill({ json: trust })
        : route.fulfill({ contentType: 'text/html', body: '<!doctype html><body></body>' }),
    );
    await page.goto('http://inbox.localhost/');
    await page.addScriptTag({ content: bundledPage('trust-page'), type: 'module' });
    await eventually('the keys are known', async () => (await page.title()) === 'first as before');
    trust = { ...trust, committers: ['first', 'second'] };
    await page.evaluate('reconnect()');
    await eventually('the new keys are known', async () => (await page.title()) === 'first,second changed');
  });
});
