import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually';
import { describeInBrowser } from './support/chromium';
import { useEnvironment } from './support/environment';
import { openReview } from './support/review-page';
import { takeSeat } from './support/seat';

/** The horizontal positions of these texts in the first line of the change, from left to right on the screen. */
async function positions(page: Page, texts: readonly string[]): Promise<number[]> {
  return await page.evaluate((wanted) => {
    const { document, NodeFilter } = globalThis as unknown as Dom;
    const walker = document.createTreeWalker(document.querySelector('#line-0 code'), NodeFilter.SHOW_TEXT);
    const found = new Map<string, number>();
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
      for (const text of wanted) {
        const at = node.data.indexOf(text);
        if (at === -1) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + text.length);
        found.set(text, range.getBoundingClientRect().left);
      }
    return wanted.map((text) => found.get(text) ?? Number.NaN);
  }, texts);
}

interface TextNode {
  readonly data: string;
}
interface Dom {
  readonly NodeFilter: { readonly SHOW_TEXT: number };
  readonly document: {
    querySelector(selector: string): unknown;
    createTreeWalker(root: unknown, what: number): { nextNode(): TextNode | null };
    createRange(): {
      setStart(node: TextNode, at: number): void;
      setEnd(node: TextNode, at: number): void;
      getBoundingClientRect(): { readonly left: number };
    };
  };
}

describeInBrowser('the text of a change on the page', () => {
  const environment = useEnvironment();
  jest.setTimeout(240_000);

  it('is in the order of the bytes, also between words of a script that is written from right to left', async () => {
    const { system } = environment();
    const seat = await takeSeat(environment(), 'alice');
    try {
      const { changeId } = await system.submit({
        target: 'infra',
        sourceTool: 'PlainText',
        raw: "('\u05d0\u05d1 \u05d2', 17, 4000, '\u05d3')",
        metadata: { hostile: true },
      });
      await system.waiting(changeId);
      await openReview(seat.page, changeId);
      await eventually('the line', async () => !(await positions(seat.page, ['17'])).includes(Number.NaN));
      const shown = await positions(seat.page, ['\u05d0\u05d1', '17', '4000', '\u05d3']);
      expect(shown).toEqual(shown.toSorted((a, b) => a - b));
    } finally {
      await seat.close();
    }
  });

  it('has every space of a value', async () => {
    const { system } = environment();
    const seat = await takeSeat(environment(), 'alice');
    try {
      const raw = "update customers set note = 'two  spaces'";
      const { changeId } = await system.submit({ sourceTool: 'SQLDryRun', raw, metadata: { table_name: 'customers' } });
      await system.waiting(changeId);
      await openReview(seat.page, changeId);
      const value = seat.page.locator('.rows ins').first();
      expect(await value.innerText()).toBe('"two  spaces"');
    } finally {
      await seat.close();
    }
  });
});
