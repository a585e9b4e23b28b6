import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Defines the tests of all files of a folder except `self`. A describe block limits the hooks of a file to its tests. */
export function describeAllFiles(folder: string, self: string): void {
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts') && name !== basename(self));
  for (const file of files.toSorted()) describe(file, () => void require(join(folder, file)));
}
