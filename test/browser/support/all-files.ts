import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Defines the tests of all files of a folder except `self`, or of the files of `sample`. A describe block limits the hooks of a file to
 * its tests.
 */
export function describeAllFiles(folder: string, self: string, sample: readonly string[] | null): void {
  const all = readdirSync(folder).filter((name) => name.endsWith('.test.ts') && name !== basename(self));
  const missing = (sample ?? []).find((name) => !all.includes(name));
  if (missing !== undefined) throw new Error(`${folder} has no file ${missing}`);
  const files = sample ?? all;
  for (const file of files.toSorted()) describe(file, () => void require(join(folder, file)));
}
