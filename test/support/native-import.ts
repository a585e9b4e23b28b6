import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './root';

declare const requireNatively: (file: string) => (url: string) => Promise<unknown>;

/** The exports of an ES module of this repository, loaded outside of Jest: see node-environment.js. */
export async function nativeImport<T>(path: string): Promise<T> {
  const load = requireNatively(join(__dirname, 'import-natively.cjs'));
  return (await load(pathToFileURL(join(ROOT, path)).href)) as T;
}
