import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(__dirname, '../../..');

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? sources(join(folder, entry.name))
      : entry.name.endsWith('.ts')
        ? [join(folder, entry.name)]
        : [],
  );
}

test('one function decides, called where the workflow acts, where the committer verifies and offline; guard() and every other client only do what they are told [V18]', () => {
  const calling = [
    'activities',
    'cli',
    'client',
    'gateway',
    'signing',
    'source-tools',
    'storage',
    'workers',
    'workflows',
  ]
    .flatMap((folder) => sources(join(ROOT, folder)))
    .filter((file) => /\bdecide\(/.test(readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')))
    .map((file) => relative(ROOT, file))
    .sort();
  expect(calling).toEqual([
    'activities/committer/verify-change.ts',
    'signing/evidence/check-decision.ts',
    'workflows/review-state.ts',
  ]);
});
