import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Third-party test cases, in a folder next to the checkout. They are not copied into the repository. */
export const CORPORA = resolve(__dirname, '../../../../../../shared/corpora');

/** The corpus, or null if it is absent. */
export function corpus<T>(file: string, folder = CORPORA): T | null {
  const path = join(folder, file);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : null;
}

/** Runs `body` with the corpus. If it is absent, adds one skipped test that says so. */
export function withCorpus<T>(file: string, body: (cases: T) => void): void {
  const cases = corpus<T>(file);
  if (cases !== null) return body(cases);
  it.skip(`is not run: ../shared/corpora/${file} is absent`, () => undefined);
}
