import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..', '..');
/** Written by `npm test`. Dated before the compile, so that an edit during the compile counts. */
const stamp = join(root, 'dist', '.built');

/** Child processes run compiled sources. `npm test` compiles them; after an edit, this compiles them again. */
export async function compiled(): Promise<string> {
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8')) as { include: string[] };
  const newest = Math.max(...include.map((folder) => newestIn(join(root, folder))));
  if (!existsSync(stamp) || statSync(stamp).mtimeMs < newest) await compile();
  return join(root, 'dist');
}

function newestIn(path: string): number {
  if (!existsSync(path)) return 0;
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  // client/dist is the built package, not a source.
  const names = readdirSync(path).filter((name) => name !== 'dist');
  return Math.max(mtimeMs, ...names.map((name) => newestIn(join(path, name))));
}

// Type errors are reported by another check; tsc writes its output in spite of them.
async function compile(): Promise<void> {
  const began = new Date();
  await run(join(root, 'scripts', 'remove-stale-outputs.mjs'));
  await run(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', join(root, 'tsconfig.build.json'));
  await run(join(root, 'scripts', 'build-inbox.mjs'));
  if (existsSync(stamp)) utimesSync(stamp, began, began);
}

async function run(...args: string[]): Promise<void> {
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  await new Promise((done) => child.once('close', done));
}
