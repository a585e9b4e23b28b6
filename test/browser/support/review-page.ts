import type { Locator, Page } from 'playwright-core';

/** What a person does with one review on the page. Elements are found by their roles and names, as assistive technology does. */

export async function openReview(page: Page, changeId: string): Promise<void> {
  await page.evaluate((id) => void ((globalThis as unknown as Location_).location.hash = `#/review/${id}`), changeId);
  await page.locator('article.review, article.differs').first().waitFor({ timeout: 30_000 });
}

interface Location_ {
  readonly location: { hash: string };
}

export function cards(page: Page): Locator {
  return page.locator('article.card');
}

/** Goes to each place of the evidence until all of it was on screen. */
export async function lookAtEvidence(card: Locator): Promise<void> {
  const confirm = card.getByRole('button', { name: 'Confirm' });
  const places = card.getByRole('button', { name: /^Go to/ });
  for (let round = 0; round < 20 && (await confirm.isDisabled()); round++) {
    for (const place of await places.all()) {
      if (!(await place.isVisible())) continue;
      await place.click();
      // What counts as seen was on screen for half a second.
      await card.page().waitForTimeout(600);
      if (await confirm.isEnabled()) break;
    }
    if (await confirm.isDisabled()) {
      await card.scrollIntoViewIfNeeded();
      await card.page().waitForTimeout(600);
    }
  }
}

export async function choose(card: Locator, decision: 'confirm' | 'reject', reason: string): Promise<void> {
  if (decision === 'confirm') await lookAtEvidence(card);
  await card.getByRole('button', { name: decision === 'confirm' ? 'Confirm' : 'Reject' }).click();
  await card.getByLabel(/^Reason/).fill(reason);
}

/** Types the name and the number that a confirmation of a large or irreversible change asks for, if it asks. */
export async function typeWhatItTouches(page: Page, name: string, count: number): Promise<void> {
  const bar = page.getByRole('region', { name: 'Your answers' });
  const [first, second] = [bar.getByRole('textbox').first(), bar.getByRole('textbox').nth(1)];
  await first.fill(name);
  await second.fill(String(count));
}

/** One touch of the passkey. */
export async function sign(page: Page): Promise<void> {
  await page.bringToFront();
  await page.getByRole('button', { name: /^Sign \d+ answers?$/ }).click();
}
