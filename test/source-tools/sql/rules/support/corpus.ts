import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Cases that others wrote lie beside the checkout and are never copied into it. */
const CORPORA = resolve(__dirname, '../../../../../../shared/corpora');

/** A corpus, or null where it is absent. */
export function corpus<T>(file: string): T | null {
  const path = join(CORPORA, file);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : null;
}

/** Runs `body` with the corpus; where it is absent, leaves one skipped test that says so. */
export function withCorpus<T>(file: string, body: (cases: T) => void): void {
  const cases = corpus<T>(file);
  if (cases !== null) return body(cases);
  it.skip(`is not run: ../shared/corpora/${file} is absent`, () => undefined);
}
