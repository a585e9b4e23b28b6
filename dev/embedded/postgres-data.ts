import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Env, isTraversable, traversableDir } from './places';
import type { PostgresBinaries, RunAs } from './postgres-binaries';
import { outputOf, type Say } from './processes';

/** The superuser of the embedded server. */
export const SUPERUSER = 'postgres';

/**
 * The data directory of a state directory. It is inside, unless root starts the server and PostgreSQL's user cannot traverse the
 * path. If only the state directory itself is not traversable it becomes so (not listable); its secret files have mode 600.
 */
export function dataDirFor(stateDir: string, runAs: RunAs, env: Env = process.env): string {
  if (runAs !== undefined && !isTraversable(stateDir) && isTraversable(dirname(stateDir)))
    chmodSync(stateDir, statSync(stateDir).mode | 0o011);
  if (runAs === undefined || isTraversable(stateDir)) return join(stateDir, 'postgres');
  const name = createHash('sha256').update(stateDir).digest('hex').slice(0, 16);
  return join(traversableDir('/var/lib/countersign', env), `data-${name}`);
}

/**
 * Creates the data directory with a new superuser password, which is written to `passwordFile` (mode 600). The directory is
 * renamed into place; a partial one of a killed run is removed. Throws with the output of initdb.
 */
export async function initialise(
  binaries: PostgresBinaries,
  dataDir: string,
  passwordFile: string,
  runAs: RunAs,
  options: { readonly say: Say; readonly fast?: boolean },
): Promise<void> {
  options.say('PostgreSQL: creating its data directory, once');
  const partial = `${dataDir}.partial`;
  const passedIn = `${dataDir}.pwfile`;
  rmSync(partial, { recursive: true, force: true });
  rmSync(passedIn, { force: true });
  mkdirSync(partial, { mode: 0o700 });
  const password = randomBytes(24).toString('hex');
  writeFileSync(passedIn, `${password}\n`, { mode: 0o600, flag: 'wx' });
  if (runAs !== undefined) for (const path of [partial, passedIn]) chownSync(path, runAs.uid, runAs.gid);
  try {
    const args = [
      '-D',
      partial,
      '-U',
      SUPERUSER,
      '--auth=scram-sha-256',
      `--pwfile=${passedIn}`,
      '--encoding=UTF8',
      '--locale=C',
    ];
    const child = spawn(
      binaries.initdb,
      options.fast === true ? [...args, '--no-sync'] : args,
      childOptions(runAs, ['ignore', 'pipe', 'pipe']),
    );
    const { code, output } = await outputOf(child, 120_000);
    if (code !== 0)
      throw new Error(`PostgreSQL could not create its data directory ${dataDir} (initdb, code ${code}):\n${output}`);
  } finally {
    rmSync(passedIn, { force: true });
  }
  // The password is written first: without it the data cannot be opened.
  rmSync(passwordFile, { force: true });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  renameSync(partial, dataDir);
}

/** Moves data away whose state directory was removed (a fresh clone in the same place). Only the latest such data is kept. */
export function setAside(dataDir: string, say: Say): void {
  const old = `${dataDir}.old`;
  say(`PostgreSQL: the state directory is new, so the data that an earlier one had is set aside as ${old}`);
  rmSync(old, { recursive: true, force: true });
  renameSync(dataDir, old);
}

/** Throws, with what to do, if the data has another major version or its password is missing. */
export function checkData(dataDir: string, passwordFile: string, binaries: PostgresBinaries): void {
  const major = readFileSync(join(dataDir, 'PG_VERSION'), 'utf8').trim();
  if (major !== binaries.version.split('.')[0]) {
    throw new Error(
      `The data in ${dataDir} is of PostgreSQL ${major}, the server is ${binaries.version}. Move that directory away to start with new data.`,
    );
  }
  if (!existsSync(passwordFile)) {
    throw new Error(
      `${passwordFile} is missing, and without it the data in ${dataDir} cannot be opened. Restore it, or move that directory away to start with new data.`,
    );
  }
}

/** Options to start PostgreSQL's programs with. */
export function childOptions(
  runAs: RunAs,
  stdio: ('ignore' | 'pipe' | number)[],
): Parameters<typeof spawn>[2] & object {
  // Not the user's environment: its PGDATA, PGPORT or LD_LIBRARY_PATH are for other servers.
  return { ...runAs, stdio, cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' } };
}
