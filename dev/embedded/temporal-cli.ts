import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { buildTemporalCli } from './temporal-cli-build';
import { downloadTemporalCli } from './temporal-cli-download';
import { type Env, cacheDir } from './places';
import type { Say } from './processes';

/** The Temporal CLI that `tools/go.mod` pins; the file name in the cache carries it, so a newer pin builds anew. */
export const TEMPORAL_CLI_VERSION = '1.5.1';

/** How the Temporal server was found, in the order of the search. */
export type TemporalSource =
  | { readonly kind: 'address'; readonly address: string; readonly cliPath: string | undefined }
  | {
      readonly kind: 'cli';
      readonly from: 'environment' | 'path' | 'cache' | 'download' | 'build';
      readonly cliPath: string;
    };

/** The steps of the search that use the network or take minutes; tests replace them. */
export interface SearchSteps {
  readonly verify: (path: string) => Promise<string | undefined>;
  readonly download: (dir: string, say: Say) => Promise<string | undefined>;
  readonly build: (target: string, version: string, say: Say) => Promise<string | undefined>;
}

const REAL_STEPS: SearchSteps = { verify: temporalVersion, download: downloadTemporalCli, build: buildTemporalCli };

/**
 * Finds a Temporal server or the program to start one: `TEMPORAL_ADDRESS` → the program named by `COUNTERSIGN_TEMPORAL_CLI`,
 * or `temporal` on PATH → the cache → the SDK's download → a build of the pinned Go module in `tools/`.
 * Logs each step. Throws one message with the ways to get a server if none works, and at once if `COUNTERSIGN_TEMPORAL_CLI`
 * names an unusable program: a wrong setting must not be ignored.
 */
export async function findTemporal(
  say: Say,
  env: Env = process.env,
  steps: SearchSteps = REAL_STEPS,
): Promise<TemporalSource> {
  const address = env['TEMPORAL_ADDRESS'];
  if (address !== undefined && address !== '') {
    say(`Temporal: using the server at ${address} (TEMPORAL_ADDRESS)`);
    return { kind: 'address', address, cliPath: (await findInstalledCli(env, steps))?.cliPath };
  }
  const installed = await findInstalledCli(env, steps, say);
  if (installed !== undefined) return installed;

  const cache = cacheDir(env);
  const downloaded = await steps.download(cache, say);
  if (downloaded !== undefined && (await steps.verify(downloaded)) !== undefined) {
    return { kind: 'cli', from: 'download', cliPath: downloaded };
  }
  const built = await steps.build(cachedCliPath(cache), TEMPORAL_CLI_VERSION, say);
  if (built !== undefined && (await steps.verify(built)) !== undefined)
    return { kind: 'cli', from: 'build', cliPath: built };
  throw new Error(howToGetOne());
}

/**
 * The CLI that is installed (named, PATH, cache), without download or build; undefined if there is none. Enough to run
 * `temporal workflow …` against a server.
 */
export async function findInstalledCli(
  env: Env = process.env,
  steps: Pick<SearchSteps, 'verify'> = REAL_STEPS,
  say: Say = () => {},
): Promise<Extract<TemporalSource, { kind: 'cli' }> | undefined> {
  const named = env['COUNTERSIGN_TEMPORAL_CLI'];
  if (named !== undefined && named !== '') {
    const path = named.includes('/') || named.includes('\\') ? named : (onPath(named, env) ?? named);
    const version = await steps.verify(path);
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
    const version = await steps.verify(found);
    if (version !== undefined) {
      say(`Temporal: ${found} (on PATH), ${version}`);
      return { kind: 'cli', from: 'path', cliPath: found };
    }
    say(`Temporal: ${found} is on PATH but does not answer --version; ignoring it`);
  }
  for (const path of cachedClis(cacheDir(env))) {
    const version = await steps.verify(path);
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

function cachedCliPath(cache: string): string {
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

function howToGetOne(): string {
  return [
    'No Temporal server: none was found, downloaded or built (the lines above say why). To get one:',
    '  - install the Temporal CLI, so that `temporal` is on PATH (https://docs.temporal.io/cli), or name it with COUNTERSIGN_TEMPORAL_CLI',
    '  - set TEMPORAL_ADDRESS=host:7233 to use a running server',
    '  - install Go 1.25 or newer: the pinned CLI in tools/go.mod is then built, once, in about 3 minutes',
  ].join('\n');
}
