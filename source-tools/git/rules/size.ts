import { z } from 'zod';
import type { Hit } from '../../../policy/rules/rule-maker';
import { coveringGlob } from '../../../policy/text/glob';
import { atFile, atLine, gitRule, globs, MODIFIED, NEW, patchOf } from './define-git-rule';
import type { PatchFile } from '../facts/git-facts';
import type { FileView } from './patch-view';
import { wordList } from '../../../policy/text/word-list';

const limit = (value: number, what: string) => z.int().min(0).max(1_000_000_000).default(value).describe(what);

const GENERATED = wordList(`
  **/dist/** **/build/** **/generated/** **/__generated__/** **/*.min.js **/*.min.css **/*.pb.go **/*_pb2.py
  **/*.g.dart **/*.generated.*
`);
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
  logicRevision: 3,
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

const VENDORED = ['**/vendor/**', '**/node_modules/**', '**/third_party/**', '**/Pods/**', '**/site-packages/**'];

export const vendoredTree = gitRule({
  name: 'git_vendored_tree',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'Vendored code runs like first-party code but is rarely reviewed.',
  config: z.strictObject({
    paths: globs(200).default(VENDORED),
    maxFiles: limit(0, 'Maximum number of changed files below these paths.'),
  }),
  examples: {
    bad: patchOf('vendor/github.com/x/y/z.go', NEW, ['+package y']),
    good: patchOf('internal/vendors/z.go', NEW, ['+package vendors']),
  },
  find: ({ files }, { paths, maxFiles }) => {
    const below = files.filter(({ names }) => names.some((name) => coveringGlob(paths, name) !== undefined));
    return below.length > maxFiles ? below.map(({ file }) => atFile(file, 'is vendored third-party code')) : [];
  },
});

const MARKS = ['do not edit', '@generated', 'autogenerated', 'auto-generated'];

export const generatedEdit = gitRule({
  name: 'git_generated_edit',
  logicRevision: 3,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'The next run of the generator overwrites a manual edit, and reviewers rarely read generated files.',
  config: z.strictObject({ paths: globs(200).default(GENERATED) }),
  examples: {
    bad: patchOf('api/user.pb.go', MODIFIED, ['-a', '+b']),
    good: patchOf('api/user.proto', MODIFIED, ['-a', '+b']),
  },
  find: ({ files }, { paths }) =>
    files.flatMap((view): readonly Hit[] => {
      const { file, name } = view;
      if (coveringGlob(paths, name) !== undefined) return [atFile(file, 'is a generated file')];
      if (!view.contains(' ', MARKS)) return [];
      const mark = view.lines(' ').find((line) => {
        const lower = line.text.toLowerCase();
        return MARKS.some((word) => lower.includes(word));
      });
      return mark === undefined ? [] : [atLine(file, mark, 'is marked as generated')];
    }),
});

const LICENCE = ['spdx-license-identifier', 'copyright', 'licensed under', 'all rights reserved'];
const LICENCE_FILES = ['**/LICENSE*', '**/LICENCE*', '**/COPYING*', '**/NOTICE*'];

export const licenceChange = gitRule({
  name: 'git_licence_change',
  logicRevision: 3,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'An agent must not change copyright notices or license terms.',
  examples: {
    bad: patchOf('src/a.c', MODIFIED, ['-// SPDX-License-Identifier: MIT', '+// utilities']),
    good: patchOf('src/a.c', MODIFIED, ['-// SPDX-License-Identifier: MIT ', '+// SPDX-License-Identifier: MIT']),
  },
  find: ({ files }) =>
    files.flatMap((view): readonly Hit[] => {
      const { file, name } = view;
      if (coveringGlob(LICENCE_FILES, name) !== undefined) return [atFile(file, 'is a license file')];
      if (!view.contains('-', LICENCE)) return [];
      const kept = new Set(view.lines('+').map((line) => line.text.trim().toLowerCase()));
      return view
        .lines('-')
        .filter((line) => {
          const lower = line.text.trim().toLowerCase();
          return LICENCE.some((word) => lower.includes(word)) && !kept.has(lower);
        })
        .map((line) => atLine(file, line, 'loses a copyright or license line'));
    }),
});
