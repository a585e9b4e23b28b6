import type { Submission } from '../../policy/contracts/diff';
import { submissionTitles } from '../../workers/submission-titles';

const submission: Submission = {
  tenant: 'acme',
  target: 'shop',
  sourceTool: 'SQLDryRun',
  diffSha: 'd'.repeat(64),
  metadata: {},
  requestKey: '',
};
const store = { get: async () => new TextEncoder().encode('update items set stock = 0') };

function titles(title: (raw: string) => Promise<string>, from = store, maxMs = 5_000) {
  const warned: unknown[] = [];
  const logger = { warn: (...args: unknown[]) => void warned.push(args) };
  const threads = { title: ({ raw }: { raw: Uint8Array }) => title(new TextDecoder().decode(raw)) };
  return { titleOf: submissionTitles(from, threads, logger as never, maxMs), warned };
}

it('gives the title of the stored bytes, or of those that were sent inline', async () => {
  const { titleOf } = titles(async (raw) => `title of ${raw}`);
  expect(await titleOf(submission)).toBe('title of update items set stock = 0');
  expect(await titleOf({ ...submission, inline: Buffer.from('x').toString('base64') })).toBe('title of x');
});

it.each([
  ['the bytes cannot be read', async () => 'a title', { get: () => Promise.reject(new Error('down')) }],
  ['they cannot be parsed', () => Promise.reject(new Error('SyntaxError')), store],
])('gives null and a warning if %s', async (_, title, from) => {
  const { titleOf, warned } = titles(title, from);
  expect(await titleOf(submission)).toBeNull();
  expect(warned).toHaveLength(1);
});

it('gives null if the title takes too long, so that a review is not delayed', async () => {
  const { titleOf } = titles(() => new Promise(() => {}), store, 20);
  expect(await titleOf(submission)).toBeNull();
});

it('gives null at once while many titles are not computed yet, so that their diffs do not fill the memory', async () => {
  const finish: (() => void)[] = [];
  const { titleOf } = titles(() => new Promise((resolve) => finish.push(() => resolve('late'))), store, 50);
  expect(await Promise.all(Array.from({ length: 40 }, () => titleOf(submission)))).toEqual(Array(40).fill(null));
  // The thread still has those whose submission no longer waits.
  expect(finish.length).toBeLessThanOrEqual(20);
  for (const each of finish) each();
  await new Promise(setImmediate);
  const next = titleOf(submission);
  await new Promise(setImmediate);
  finish.at(-1)?.();
  expect(await next).toBe('late');
});
