import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from './root';

const PARTS = readdirSync(join(ROOT, 'test', 'parts')).toSorted();

/**
 * Runs one part of all test files of the project `fast` with the same loaded modules. Jest loads every module again for each
 * test file, which takes longer than the tests. See jest.config.js.
 */
export function runPart(self: string): void {
  const part = PARTS.indexOf(basename(self));
  fastFiles().forEach((file, n) => {
    // A describe block limits the hooks of a file to its tests.
    if (n % PARTS.length === part) describe(file, () => void require(join(ROOT, file)));
  });
}

function fastFiles(): readonly string[] {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
    .filter((file) => /(?<!\.slow)\.test\.ts$/.test(file) && !/^test\/(system|parts|browser)\//.test(file))
    .toSorted();
}
