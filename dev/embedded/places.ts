import { accessSync, constants, existsSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { cacheDir } from '../../workers/cache-dir';

/** Environment variables, passed as a parameter so that tests do not change the process. */
export type Env = Readonly<Record<string, string | undefined>>;

/** The folder of Countersign's package.json, for sources and for `dist/`. */
export function packageRoot(): string {
  for (let dir = __dirname; ; dir = dirname(dir)) {
    const manifest = join(dir, 'package.json');
    if (
      existsSync(manifest) &&
      (JSON.parse(readFileSync(manifest, 'utf8')) as { name?: string }).name === 'countersign'
    )
      return dir;
    if (dir === dirname(dir)) throw new Error(`No package.json of countersign above ${__dirname}`);
  }
}

/** Whether any user may traverse every directory from the root to `dir`. Directories that do not exist are ignored. */
export function isTraversable(dir: string): boolean {
  for (let at = resolve(dir); ; at = dirname(at)) {
    if (existsSync(at) && (statSync(at).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/**
 * A directory of this user that any user may traverse: the first that fits of `wanted`, the cache and the system's cache. It is
 * created if missing. PostgreSQL refuses to run as root, and another user cannot traverse a home directory of mode 700.
 * Throws with what to do if there is none.
 */
export function traversableDir(wanted: string, env: Env = process.env): string {
  const candidates = [
    wanted,
    cacheDir(env),
    '/var/cache/countersign',
    join(tmpdir(), `countersign-${process.getuid?.() ?? 0}`),
  ];
  for (const dir of candidates) {
    if (!isTraversable(dirname(dir)) || !makeOwn(dir)) continue;
    if (isTraversable(dir)) return dir;
  }
  throw new Error(
    `PostgreSQL runs as another user when started by root, and that user can traverse none of these directories: ${candidates.join(', ')}. ` +
      'Set COUNTERSIGN_CACHE to a directory that every user can traverse (mode 755), or run as a user who is not root.',
  );
}

// A directory in a world-writable place (/tmp) is used only if this user owns it: another user could have created it.
function makeOwn(dir: string): boolean {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o711 });
    accessSync(dir, constants.W_OK);
    const found = lstatSync(dir);
    return found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid());
  } catch {
    return false; // Cannot be created or written: the next candidate is tried.
  }
}

/** The first of `wanted` that is free on loopback, or else any free port. 0 in `wanted` means any. */
export async function freePort(...wanted: readonly (number | undefined)[]): Promise<number> {
  for (const port of [...wanted, 0]) {
    if (port === undefined) continue;
    const got = await tryPort(port);
    if (got !== undefined) return got;
  }
  throw new Error('No free port on 127.0.0.1');
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(undefined)); // In use or not permitted: the caller tries the next.
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : undefined));
    });
  });
}
