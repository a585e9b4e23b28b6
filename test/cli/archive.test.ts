import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeLeftovers } from '../../cli/archive/delete';
import { runCommand, temporaryFolder } from './run-command';

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

const folder = temporaryFolder();

test('what a run left that was killed while it wrote a file is removed after an hour, and nothing else', () => {
  const dir = folder.path('evidence');
  mkdirSync(dir);
  const file = `${'c'.repeat(64)}.json`;
  const put = (name: string, minutes: number): void => {
    writeFileSync(join(dir, name), '{}');
    const at = new Date(Date.now() - minutes * 60_000);
    utimesSync(join(dir, name), at, at);
  };
  const kept = [
    file,
    `${file}.tmp`,
    `${file}.0123456789ab.tmp.txt`,
    `${file}.0123456789AB.tmp`,
    `x${file}.0123456789ab.tmp`,
    'notes.json.0123456789ab.tmp',
  ];
  for (const name of kept) put(name, 90);
  put(`${file}.aaaaaaaaaaaa.tmp`, 90);
  put(`${file}.bbbbbbbbbbbb.tmp`, 30);
  const directory = `${file}.cccccccccccc.tmp`;
  mkdirSync(join(dir, directory));
  utimesSync(join(dir, directory), 0, 0);
  removeLeftovers(dir);
  expect(readdirSync(dir).sort()).toEqual([...kept, `${file}.bbbbbbbbbbbb.tmp`, directory].sort());
});
