import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/root';
import { launchChromium } from './chromium';

const STYLE = `
  body { margin: 0; padding: 16px; background: #11151c; width: max-content; }
  pre { margin: 0; color: #d7dde6; font: 11px/1.35 'DejaVu Sans Mono', monospace; width: 80ch; white-space: pre-wrap; overflow-wrap: anywhere; }
`;

/** Makes an image of the text under this heading of docs/screens.md, as a terminal without colours shows it. */
export async function screenImage(heading: string, path: string): Promise<void> {
  const [, , text] = screens().find(([, found]) => found === heading) ?? [];
  if (text === undefined) throw new Error(`docs/screens.md has no heading "${heading}"`);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 320, height: 320 } });
    await page.setContent(`<style>${STYLE}</style><pre></pre>`);
    await page.locator('pre').evaluate((pre: { textContent: string | null }, shown) => (pre.textContent = shown), text);
    await page.locator('body').screenshot({ path });
  } finally {
    await browser.close();
  }
}

function screens(): RegExpMatchArray[] {
  const page = readFileSync(join(ROOT, 'docs', 'screens.md'), 'utf8');
  return [...page.matchAll(/^## (.*)\n\n```text\n([\s\S]*?)\n```$/gm)];
}
