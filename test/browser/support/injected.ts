import type { Page } from 'playwright-core';

interface ElementLike {
  readonly tagName: string;
  readonly outerHTML: string;
  readonly attributes: ArrayLike<{ readonly name: string; readonly value: string }>;
}
interface DocumentLike {
  querySelectorAll(selector: string): ArrayLike<ElementLike>;
}

/** Elements and attributes that the page never makes: a string became HTML. */
export async function injectedElements(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() => {
    const { document } = globalThis as unknown as { document: DocumentLike };
    const never =
      'main script, iframe, object, embed, base, main link, main meta, main style, main img, main svg, main math, video, audio, template, applet, portal, marquee, form:not([role=search]), [style], [srcdoc], [formaction], [xlink\\:href]';
    const found = Array.from(document.querySelectorAll(never), ({ outerHTML }) => outerHTML.slice(0, 200));
    for (const element of Array.from(document.querySelectorAll('*')))
      for (const { name, value } of Array.from(element.attributes)) {
        const isAddress = ['href', 'src', 'action', 'data', 'ping'].includes(name);
        if (
          name.startsWith('on') ||
          (isAddress && !/^(#|http:\/\/localhost|http:\/\/127\.0\.0\.1|assets\/|\/inbox\/)/.test(value))
        )
          found.push(`<${element.tagName} ${name}="${value.slice(0, 100)}">`);
      }
    return found;
  });
}

/** Opens everything that is folded, so that all of it is rendered. */
export async function unfoldAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    const { document } = globalThis as unknown as {
      document: { querySelectorAll(selector: string): Iterable<{ open: boolean }> };
    };
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
}

export async function textOf(page: Page): Promise<string> {
  return await page.locator('main').innerText();
}
