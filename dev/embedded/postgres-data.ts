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
import { type Say, endWithUs, exited } from './processes';

/** The role that owns everything in a server of ours. */
export const SUPERUSER = 'postgres';

/**
 * Where the data of a state directory is: in it, unless root starts the server and the user it runs as cannot pass there. A state directory
 * that is itself what bars the way is opened for passing through (not for listing); what is secret in it is closed by itself.
 */
export function dataDirFor(stateDir: string, runAs: RunAs, env: Env = process.env): string {
  if (runAs !== undefined && !isTraversable(stateDir) && isTraversable(dirname(stateDir)))
    chmodSync(stateDir, statSync(stateDir).mode | 0o011);
  if (runAs === undefined || isTraversable(stateDir)) return join(stateDir, 'postgres');
  const name = createHash('sha256').update(stateDir).digest('hex').slice(0, 16);
  return join(traversableDir('/var/lib/countersign', env), `data-${name}`);
}

/**
 * Makes the data directory with a new password of the superuser, which goes into `passwordFile` (mode 600). Appears whole, by rename: what a killed run
 * half made is thrown away. Throws with what initdb said.
 */
export async function initialise(
  binaries: PostgresBinaries,
  dataDir: string,
  passwordFile: string,
  runAs: RunAs,
  options: { readonly say: Say; readonly fast?: boolean },
): Promise<void> {
  options.say('PostgreSQL: making its data directory, once');
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
    endWithUs(child, 'SIGTERM');
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-3_000)));
    const timer = setTimeout(() => child.kill('SIGKILL'), 120_000);
    const code = await exited(child).finally(() => clearTimeout(timer));
    if (code !== 0)
      throw new Error(
        `PostgreSQL could not make its data directory ${dataDir} (initdb, code ${code}):\n${said.trim()}`,
      );
  } finally {
    rmSync(passedIn, { force: true });
  }
  // Password first: data without it could not be opened.
  rmSync(passwordFile, { force: true });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  renameSync(partial, dataDir);
}

/** Data kept elsewhere outlives its state directory: whoever removed that one (a fresh clone in the same place) means to begin anew. The data before that is dropped. */
export function setAside(dataDir: string, say: Say): void {
  const old = `${dataDir}.old`;
  say(`PostgreSQL: the state directory is new, so the data that an earlier one had is set aside as ${old}`);
  rmSync(old, { recursive: true, force: true });
  renameSync(dataDir, old);
}

/** Throws, with what to do, when the data is of another major version or its password is gone. */
export function checkData(dataDir: string, passwordFile: string, binaries: PostgresBinaries): void {
  const major = readFileSync(join(dataDir, 'PG_VERSION'), 'utf8').trim();
  if (major !== binaries.version.split('.')[0]) {
    throw new Error(
      `The data in ${dataDir} is of PostgreSQL ${major}, the server is ${binaries.version}. Move that directory away to begin anew (its data is then not used).`,
    );
  }
  if (!existsSync(passwordFile)) {
    throw new Error(
      `${passwordFile} is gone, and without it the data in ${dataDir} cannot be opened. Put it back, or move that directory away to begin anew.`,
    );
  }
}

/** How PostgreSQL's programs are started. */
export function childOptions(
  runAs: RunAs,
  stdio: ('ignore' | 'pipe' | number)[],
): Parameters<typeof spawn>[2] & object {
  // An environment of its own: PGDATA, PGPORT or LD_LIBRARY_PATH of the person's shell are about other servers.
  return { ...runAs, stdio, cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' } };
}
