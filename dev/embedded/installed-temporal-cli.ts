import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cacheDir } from '../../workers/cache-dir';
import type { Env } from './places';

/** The Temporal CLI that `tools/go.mod` pins; the file name in the cache carries it, so a newer pin builds anew. */
export const TEMPORAL_CLI_VERSION = '1.5.1';

/** A Temporal CLI, and where it was found. */
export interface InstalledTemporalCli {
  readonly kind: 'cli';
  readonly from: 'environment' | 'path' | 'cache';
  readonly cliPath: string;
}

/**
 * The CLI that is installed (named, PATH, cache), without download or build; undefined if there is none. Enough to run
 * `temporal workflow …` against a server.
 */
export async function findInstalledCli(
  env: Env,
  verify: (path: string) => Promise<string | undefined> = temporalVersion,
  say: (line: string) => void = () => {},
): Promise<InstalledTemporalCli | undefined> {
  const named = env['COUNTERSIGN_TEMPORAL_CLI'];
  if (named !== undefined && named !== '') {
    const path = named.includes('/') || named.includes('\\') ? named : (onPath(named, env) ?? named);
    const version = await verify(path);
    if (version === undefined) {
      throw new Error(
        `COUNTERSIGN_TEMPORAL_CLI names ${named}, which does not answer \`--version\`. Correct it or unset it.`,
      );
    }
    say(`Temporal: ${path} (COUNTERSIGN_TEMPORAL_CLI), ${version}`);
    return { kind: 'cli', from: 'environment', cliPath: path };
  }
  const found = onPath('temporal', env);
  if (found !== undefined) {
    const version = await verify(found);
    if (version !== undefined) {
      say(`Temporal: ${found} (on PATH), ${version}`);
      return { kind: 'cli', from: 'path', cliPath: found };
    }
    say(`Temporal: ${found} is on PATH but does not answer --version; ignoring it`);
  }
  for (const path of cachedClis(cacheDir(env))) {
    const version = await verify(path);
    if (version === undefined) continue;
    say(`Temporal: ${path} (cache), ${version}`);
    return { kind: 'cli', from: 'cache', cliPath: path };
  }
  say('Temporal: no CLI on PATH or in the cache');
  return undefined;
}

/** The first line of `temporal --version`; undefined if the file is missing, does not run, or takes more than 20 s. */
export function temporalVersion(path: string): Promise<string | undefined> {
  return new Promise((done) => {
    execFile(path, ['--version'], { timeout: 20_000, encoding: 'utf8' }, (error, stdout) => {
      const line = stdout.split('\n')[0]?.trim() ?? '';
      done(error === null && /^temporal version \S/.test(line) ? line : undefined);
    });
  });
}

const exe = process.platform === 'win32' ? '.exe' : '';

/** Where the pinned CLI is after its build. */
export function cachedCliPath(cache: string): string {
  return join(cache, `temporal-${TEMPORAL_CLI_VERSION}${exe}`);
}

// The SDK chooses the file name of its download; a partial one has another extension and does not answer --version.
function cachedClis(cache: string): string[] {
  const downloads = existsSync(cache)
    ? readdirSync(cache).filter((name) => name.startsWith('temporal-sdk-typescript-'))
    : [];
  const built = cachedCliPath(cache);
  return [
    ...(existsSync(built) ? [built] : []),
    ...downloads.filter((name) => !name.endsWith('.downloading')).map((name) => join(cache, name)),
  ];
}

function onPath(name: string, env: Env): string | undefined {
  for (const dir of (env['PATH'] ?? '').split(delimiter)) {
    if (dir === '') continue;
    const path = join(dir, `${name}${exe}`);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      continue; // Not in this directory.
    }
  }
  return undefined;
}
