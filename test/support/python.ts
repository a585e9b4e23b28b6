import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FOLDER = join(__dirname, '..', '..', '.countersign', 'test', 'python');

/** False if this machine has no Python 3.9 or later with `venv`. */
export function hasPython(): boolean {
  return (
    spawnSync('python3', ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))'], {
      stdio: 'ignore',
    }).status === 0
  );
}

/** The interpreter of a virtual environment with these packages (`name==version`), which is created once and kept. */
export async function pythonWith(...packages: readonly string[]): Promise<string> {
  const environment = join(FOLDER, packages.join('-').replaceAll('==', '-'));
  const python = join(environment, 'bin', 'python');
  if (existsSync(python)) return python;
  // Built elsewhere and renamed, so an interrupted installation is never used.
  const building = `${environment}.${process.pid}`;
  mkdirSync(FOLDER, { recursive: true });
  try {
    await run('python3', ['-m', 'venv', building]);
    await run(join(building, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', ...packages], { timeout: 300_000 });
    renameSync(building, environment);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  return python;
}
