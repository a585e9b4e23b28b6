import type { Submission } from '../../policy/contracts/diff';
import { sha256Hex } from '../../policy/contracts/hash';
import { EMPTY_SUBMISSION, submissionTitles } from '../../workers/submission-titles';

const BYTES = new TextEncoder().encode('update items set stock = 0');
const submission: Submission = {
  tenant: 'acme',
  target: 'shop',
  sourceTool: 'SQLDryRun',
  diffSha: sha256Hex(BYTES),
  metadata: {},
  requestKey: '',
};
const store = { get: async () => BYTES };

function titles(title: (raw: string) => Promise<string>, from = store, maxMs = 5_000) {
  const warned: unknown[] = [];
  const logger = { warn: (...args: unknown[]) => void warned.push(args) };
  const threads = { title: ({ raw }: { raw: Uint8Array }) => title(new TextDecoder().decode(raw)) };
  return { titleOf: submissionTitles(from, threads, logger as never, maxMs), warned };
}

it('gives the title of the stored bytes, or of those that were sent inline', async () => {
  const { titleOf } = titles(async (raw) => `title of ${raw}`);
  expect(await titleOf(submission)).toBe('title of update items set stock = 0');
  const sent = { inline: Buffer.from('x').toString('base64'), diffSha: sha256Hex(Buffer.from('x')) };
  expect(await titleOf({ ...submission, ...sent })).toBe('title of x');
  expect(await titleOf(EMPTY_SUBMISSION)).toBe('title of ');
});

it('gives null if the inline bytes do not have the digest that the submission names, and does not parse them', async () => {
  const parsed: string[] = [];
  const { titleOf } = titles(async (raw) => (parsed.push(raw), raw));
  expect(await titleOf({ ...submission, inline: Buffer.from('x').toString('base64') })).toBeNull();
  expect(parsed).toEqual([]);
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

it('keeps the bytes of at most fifty changes that wait for their titles, and gives the others null at once', async () => {
  let release = (): void => {};
  const parsed = new Promise<void>((resolve) => (release = resolve));
  let kept = 0;
  const { titleOf } = titles(async (raw) => (kept++, await parsed, raw));
  const all = Array.from({ length: 60 }, () => titleOf(submission));
  expect(await Promise.all(all.slice(50))).toEqual(Array.from({ length: 10 }, () => null));
  expect(kept).toBe(50);
  release();
  await Promise.all(all);
  expect(await titleOf(submission)).toBe('update items set stock = 0');
});
