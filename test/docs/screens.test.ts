/**
 * docs/screens.md contains what the views print. `UPDATE_SCREENS=1 npx jest --selectProjects fast test/docs/screens` writes the page.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connected } from '../../cli/reviews/connection';
import { createPrinter } from '../../cli/printer';
import { changeTitle } from '../../cli/reviews/change-title';
import { printReview } from '../../cli/reviews/review-view';
import { shownState } from '../../cli/reviews/state-view';
import { readResult } from '../../client/read-review';
import type { ReviewProjection } from '../../client/ports';
import { parseEvidence, type EvidenceBundle } from '../../policy/evidence/bundle';
import { verifiedReview, type VerifiedReview } from '../../signing/verified-review';
import { failing } from '../client/fakes';
import { runCommand } from '../cli/run-command';
import { SCREENS } from '../support/screens';
import { publishedVectors } from '../support/vectors';

const PAGE = join(__dirname, '..', '..', 'docs', 'screens.md');
const NOW = new Date('2026-11-20T10:00:00.000Z');
const WIDTHS = [80, 140] as const;
/** Lines of a terminal that shows a review without scrolling. */
const HEIGHT = 50;

const { texts, trust } = publishedVectors();
const declined = ((): EvidenceBundle => {
  const parsed = parseEvidence(texts.declined);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed));
  return parsed.bundle;
})();
const closed = ((): VerifiedReview => {
  const verdict = verifiedReview(declined, trust, NOW.toISOString());
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.differences));
  return verdict.review;
})();

async function screen(review: VerifiedReview, width: number, extent: 'screen' | 'full' = 'screen'): Promise<string> {
  let text = '';
  const out = createPrinter({ write: (part) => (text += part), isTTY: true, columns: width }, false);
  printReview(out, await changeTitle({}, review), review, { now: NOW, extent, keyIsSet: true });
  return text;
}

async function projection(review: VerifiedReview): Promise<ReviewProjection> {
  const { changeId, tenant, target, sourceTool, inputSha, mode, requester } = review.status;
  const times = { openedAt: '2026-11-20T09:12:44.000Z', updatedAt: '2026-11-20T09:12:44.000Z', closedAt: null };
  return {
    ...{
      changeId,
      tenant,
      target,
      sourceTool,
      inputSha,
      mode: mode ?? 'enforced',
      requester,
      highestSeverity: 'BLOCK',
    },
    ...shownState(review.status),
    ...times,
    reason: review.status.reason,
    summary: await changeTitle({}, review),
  };
}

/** What a command prints in a terminal of this width. */
async function command(args: readonly string[], width: number): Promise<string> {
  const all = [...Object.values(SCREENS), closed];
  const reviews: Partial<Connected['reviews']> = {
    list: async ({ idPrefix = '' } = {}) => {
      const found = all.filter(({ changeId }) => changeId.startsWith(idPrefix));
      return { reviews: await Promise.all(found.map(projection)), next: null };
    },
    review: async (id) => all.find(({ changeId }) => changeId === id)!,
    result: async (id) =>
      id === closed.changeId
        ? readResult(id, declined, trust)!
        : { state: 'PENDING', status: all.find(({ changeId }) => changeId === id)!.status },
  };
  const connected: Partial<Connected> = {
    reviews: failing(reviews),
    ledgerRows: async () => declined.rows,
    close: async () => undefined,
  };
  let text = '';
  const sink = { write: (part: string) => (text += part), isTTY: true, columns: width };
  await runCommand([...args, '--no-color'], {
    remote: { reviews: { connect: () => connected as Connected } },
    host: { stdout: sink, stderr: sink, now: () => NOW },
  });
  return text;
}

const COMMANDS = [
  ['list'],
  ['result', SCREENS.git.changeId.slice(0, 8)],
  ['result', closed.changeId.slice(0, 8)],
  ['ledger', 'show', closed.changeId.slice(0, 8)],
] as const;

async function page(): Promise<string> {
  const parts = [
    '# Screens',
    'What people see in a terminal of 80 and of 140 columns. `test/docs/screens.test.ts` makes this page from the views of the command line.',
    'Every screen prints the same state and the same title. The title is made by the source tool from the bytes of the change and its dry run, never from what the requester wrote. A command takes the first eight digits of an id, if only one review starts with them; through a gateway, a command that signs takes only the full id. What is left out is named, and `show --all` prints it. If a change cannot be read, the error is shown once, with the number of checks that could not answer.',
  ];
  const block = (text: string): string => `\`\`\`text\n${text.trimEnd()}\n\`\`\``;
  for (const [name, review] of Object.entries(SCREENS))
    for (const width of WIDTHS) parts.push(`## show: ${name}, ${width} columns`, block(await screen(review, width)));
  for (const width of WIDTHS)
    parts.push(`## show: a closed review, ${width} columns`, block(await screen(closed, width)));
  for (const args of COMMANDS)
    for (const width of WIDTHS) parts.push(`## ${args.join(' ')}, ${width} columns`, block(await command(args, width)));
  return `${parts.join('\n\n')}\n`;
}

it('docs/screens.md is what the views print', async () => {
  const made = await page();
  if (process.env['UPDATE_SCREENS'] === '1') writeFileSync(PAGE, made);
  expect(readFileSync(PAGE, 'utf8')).toBe(made);
});

it.each(Object.entries(SCREENS))('show of %s fits in a terminal of 80 columns and 50 lines', async (_name, review) => {
  const lines = (await screen(review, 80)).trimEnd().split('\n');
  // The terminal breaks a command, so that it can be copied as one line.
  const isCommand = (line: string): boolean => line.startsWith('    → ');
  const height = lines.reduce((sum, line) => sum + Math.ceil([...line].length / 80), 0);
  expect(height).toBeLessThanOrEqual(HEIGHT);
  for (const line of lines) if (!isCommand(line)) expect([...line].length).toBeLessThanOrEqual(80);
});
