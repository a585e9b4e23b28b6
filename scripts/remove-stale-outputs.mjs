import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OUTPUT = /(?:\.d\.ts|\.js)(?:\.map)?$/;

/**
 * Removes the outputs in `dist` whose source is gone; tsc never does. A stale `rules/x.js` would be loaded instead of the new
 * `rules/x/index.js`. Returns how many were removed.
 */
export function removeStaleOutputs(root, folder = '') {
  const dist = join(root, 'dist', folder);
  if (!existsSync(dist)) return 0;
  let removed = 0;
  for (const entry of readdirSync(dist, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removed += removeStaleOutputs(root, path);
    // Files directly in dist are not outputs of tsc.
    else if (folder !== '' && OUTPUT.test(entry.name) && !existsSync(join(root, path.replace(OUTPUT, '.ts')))) {
      rmSync(join(dist, entry.name));
      removed++;
    }
  }
  return removed;
}

const self = fileURLToPath(import.meta.url);
if (process.argv[1] === self) removeStaleOutputs(dirname(dirname(self)));
