import { runCommand } from './run-command';

const NOW = new Date('2026-11-20T10:00:00.000Z');
const DONE = { archived: ['a'.repeat(64)], kept: [], deletedDiffs: 1, deletedHistories: 1 };

test('archive passes the time before which a review must have closed, and prints what it did', async () => {
  const archiveReviews = jest.fn(async () => DONE);
  const args = ['archive', '--older-than', '90', '--out', '/srv/evidence', '--limit', '7'];
  const { code, out } = await runCommand(args, { remote: { archive: { archiveReviews } }, host: { now: () => NOW } });
  expect([code, out]).toEqual([0, '1 archived in /srv/evidence; 1 diffs and 1 histories deleted\n']);
  expect(archiveReviews).toHaveBeenCalledWith(
    {},
    { before: new Date('2026-08-22T10:00:00.000Z'), dir: '/srv/evidence', limit: 7 },
    expect.anything(),
  );
});

test('archive exits 14 and names each review that it kept, because its evidence is not verified', async () => {
  const kept = [{ changeId: 'b'.repeat(64), problem: 'the evidence is unverified' }];
  const archiveReviews = async () => ({ ...DONE, kept });
  const args = ['archive', '--older-than', '1', '--out', '/srv/evidence'];
  const { code, out } = await runCommand(args, { remote: { archive: { archiveReviews } } });
  expect([code, out]).toEqual([14, expect.stringContaining(`kept ${'b'.repeat(64)}  the evidence is unverified`)]);
});

test.each([
  [['--out', '/x'], '--older-than is missing'],
  [['--older-than', '90'], '--out is missing'],
  [['--older-than', '0', '--out', '/x'], '--older-than'],
])('archive refuses %j', async (args, message) => {
  expect(await runCommand(['archive', ...args])).toMatchObject({ code: 2, err: expect.stringContaining(message) });
});
