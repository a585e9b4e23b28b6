import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { compiled } from './compiled';
import { oneAtATime } from './one-at-a-time';
import { pack, run, type Tarball } from './packed';
import { ROOT } from './root';

const SCRIPT = join(ROOT, 'scripts', 'build-client.mjs');
/** The build writes this file last. */
const BUILT = join(ROOT, 'client', 'dist', 'THIRD-PARTY-NOTICES.txt');

/** Packs the client, which is built once for all test files, and again after an edit. */
export async function packedClient(destination: string): Promise<Tarball> {
  const compiledAt = statSync(join(await compiled(), '.built')).mtimeMs;
  return await oneAtATime('build of the client', async () => {
    const since = Math.max(compiledAt, statSync(SCRIPT).mtimeMs);
    if (!existsSync(BUILT) || statSync(BUILT).mtimeMs < since) run(process.execPath, [SCRIPT], ROOT);
    return pack('client', destination);
  });
}
