import { z } from 'zod';
import { coveringGlob } from '../../../policy/text/glob';
import { gitRule, globs, NEW, patchOf } from './define-git-rule';
import { GENERATED } from './foreign-files';
import type { PatchFile } from '../facts/git-facts';
import type { FileView } from './patch-view';
import { wordList } from '../../../policy/text/word-list';

const limit = (value: number, what: string) => z.int().min(0).max(1_000_000_000).default(value).describe(what);

/** Files that tools write: locks, snapshots, data of tests, change logs, minified and generated code. */
const UNCOUNTED = [
  ...wordList(`
    **/package-lock.json **/npm-shrinkwrap.json **/yarn.lock **/pnpm-lock.yaml **/bun.lock **/deno.lock **/go.sum
    **/Cargo.lock **/poetry.lock **/pdm.lock **/uv.lock **/Pipfile.lock **/Gemfile.lock **/composer.lock
    **/__snapshots__/** **/*.snap **/*.snapshot **/*.ambr **/snapshots/** **/testdata/** **/fixtures/**
    .changeset/** **/CHANGELOG.md
  `),
  ...GENERATED,
];

export const size = gitRule({
  name: 'git_size',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'A patch that is too large to read carefully has not been reviewed.',
  config: z.strictObject({
    maxFiles: limit(50, 'Maximum number of changed files.'),
    maxHunks: limit(200, 'Maximum number of hunks in all files.'),
    maxLines: limit(
      1000,
      'Maximum number of added and removed lines, without those that only move and those of uncounted files.',
    ),
    maxDeletedFiles: limit(10, 'Maximum number of deleted files.'),
    maxBinaryBytes: limit(256 * 1024, 'Maximum number of bytes of binary content.'),
    maxDeleteRatio: z
      .number()
      .min(0)
      .max(1)
      .default(0.9)
      .describe('Maximum share of removed lines among all changed lines.'),
    deleteRatioFrom: limit(200, 'Number of changed lines from which `maxDeleteRatio` applies.'),
    uncounted: globs(200)
      .default(UNCOUNTED)
      .describe(
        'Globs of files that tools write, such as lock files and snapshots. Other rules check what they contain.',
      ),
  }),
  examples: {
    bad: patchOf('a.txt', NEW, ['+1', '+2', '+3']),
    good: patchOf('a.txt', NEW, ['+1', '+2']),
    config: { maxLines: 2 },
  },
  find: ({ files }, config) => {
    let [removed, added, hunks, deleted, binary] = [0, 0, 0, 0, 0];
    const counted = files.filter(({ name }) => coveringGlob(config.uncounted, name) === undefined);
    for (const { file } of files) binary += file.binary?.bytes ?? 0;
    for (const { file } of counted) {
      removed += file.removed;
      added += file.added;
      hunks += file.hunks.length;
      deleted += file.change === 'delete' ? 1 : 0;
    }
    const lines = removed + added;
    const over = (value: number, most: number, what: string): string[] =>
      value > most ? [`${value} ${what} exceed the maximum of ${most}`] : [];
    const problems = [
      ...over(counted.length, config.maxFiles, 'files'),
      ...over(hunks, config.maxHunks, 'hunks'),
      ...over(lines > config.maxLines ? lines - movedLines(counted) : lines, config.maxLines, 'lines'),
      ...over(deleted, config.maxDeletedFiles, 'deleted files'),
      ...over(binary, config.maxBinaryBytes, 'binary bytes'),
    ];
    if (lines >= config.deleteRatioFrom && removed > lines * config.maxDeleteRatio)
      problems.push(`${removed} of ${lines} changed lines are removals`);
    return problems.map((what) => ({ at: wholePatch(files), what }));
  },
});

/** Number of added and removed lines that the patch removes in one place and adds unchanged in another. */
function movedLines(files: readonly FileView[]): number {
  const removed = new Map<string, number>();
  for (const view of files)
    for (const { text } of view.lines('-')) removed.set(text.trim(), (removed.get(text.trim()) ?? 0) + 1);
  let moved = 0;
  for (const view of files)
    for (const { text } of view.lines('+')) {
      const left = removed.get(text.trim()) ?? 0;
      if (left === 0) continue;
      removed.set(text.trim(), left - 1);
      moved += 2;
    }
  return moved;
}

function wholePatch(files: readonly FileView[]): PatchFile['span'] {
  const first = (files[0] as FileView).file;
  const last = (files.at(-1) as FileView).file;
  return { ...first.span, endLine: last.span.endLine, endColumn: last.span.endColumn };
}
