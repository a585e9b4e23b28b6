import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A temporary file of `replaceWhole` for the evidence of a change. */
const LEFTOVER = /^[0-9a-f]{64}\.json\.[0-9a-f]{12}\.tmp$/;
/** Another run may be writing a younger one. */
const OLD_MS = 60 * 60_000;

/** Removes what runs left that were killed while they wrote evidence: it contains diffs. */
export function removeLeftovers(dir: string): void {
  for (const name of readdirSync(dir)) {
    if (!LEFTOVER.test(name)) continue;
    const found = lstatSync(join(dir, name), { throwIfNoEntry: false });
    if (found?.isFile() === true && Date.now() - found.mtimeMs > OLD_MS) rmSync(join(dir, name), { force: true });
  }
}
