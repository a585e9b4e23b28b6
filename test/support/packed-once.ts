import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compiled } from './compiled';
import { oneAtATime } from './one-at-a-time';
import { pack, run, type Tarball } from './packed';
import { ROOT } from './root';

/** Set by the global set-up: a folder for what the test files of a run share. It is empty when the tests start. */
export const PACKED = 'COUNTERSIGN_TEST_PACKED';

const BUILD_CLIENT = join(ROOT, 'scripts', 'build-client.mjs');
/** The build writes this file last. */
const BUILT_CLIENT = join(ROOT, 'client', 'dist', 'THIRD-PARTY-NOTICES.txt');

/** The server's package. Like the client's, it is compiled and packed once for all test files of a run. */
export const packedServer = (): Promise<Tarball> => packedOnce('server', '.', async () => void (await compiled()));

/** The client's package. It is built again only if a source has changed since the last run. */
export const packedClient = (): Promise<Tarball> =>
  packedOnce('client', 'client', async () => {
    const since = Math.max(statSync(join(await compiled(), '.built')).mtimeMs, statSync(BUILD_CLIENT).mtimeMs);
    if (!existsSync(BUILT_CLIENT) || statSync(BUILT_CLIENT).mtimeMs < since)
      run(process.execPath, [BUILD_CLIENT], ROOT);
  });

async function packedOnce(name: string, source: string, build: () => Promise<void>): Promise<Tarball> {
  const folder = process.env[PACKED] ?? '';
  const packed = join(folder, `${name}.json`);
  return await oneAtATime(`packing the ${name}`, async () => {
    if (!existsSync(packed)) {
      await build();
      mkdirSync(folder, { recursive: true });
      writeFileSync(packed, JSON.stringify(pack(source, folder)));
    }
    return JSON.parse(readFileSync(packed, 'utf8')) as Tarball;
  });
}
