import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compiled } from './compiled';
import { oneAtATime } from './one-at-a-time';
import { pack, type Tarball } from './packed';

/** Set by the global set-up: a folder that is empty when the tests start. */
export const PACKED = 'COUNTERSIGN_TEST_PACKED';

/** The server's package, which is compiled and packed once for all test files of a run. */
export async function packedServer(): Promise<Tarball> {
  const folder = process.env[PACKED] ?? '';
  const packed = join(folder, 'server.json');
  return await oneAtATime('packing the server', async () => {
    if (!existsSync(packed)) {
      await compiled();
      mkdirSync(folder, { recursive: true });
      writeFileSync(packed, JSON.stringify(pack('.', folder)));
    }
    return JSON.parse(readFileSync(packed, 'utf8')) as Tarball;
  });
}
