import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../../support/root';

/** The script of a page that runs a part of the inbox alone: `NAME.mjs` in this folder. */
export function bundledPage(name: string): string {
  const [bundle, page] = [join(ROOT, 'test/support/browser-bundle.mjs'), join(__dirname, `${name}.mjs`)];
  const text = execFileSync(process.execPath, [bundle, page], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return (JSON.parse(text) as { readonly code: string }).code;
}
