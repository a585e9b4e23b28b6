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

/** The steps of the search that touch the network or take minutes; tests put others in their place. */
export interface SearchSteps {
  readonly verify: (path: string) => Promise<string | undefined>;
  readonly download: (dir: string, say: Say) => Promise<string | undefined>;
  readonly build: (target: string, version: string, say: Say) => Promise<string | undefined>;
}

const REAL_STEPS: SearchSteps = { verify: temporalVersion, download: downloadTemporalCli, build: buildTemporalCli };

/**
 * Finds a Temporal server or the program to start one: `TEMPORAL_ADDRESS` → the program named by `COUNTERSIGN_TEMPORAL_CLI`,
 * or `temporal` on PATH → our cache → the SDK's download → a build of the pinned Go module in `tools/`.
 * Says what each step does. Throws one message with the ways to get a server when nothing works, and at once when
 * `COUNTERSIGN_TEMPORAL_CLI` names something unusable: a wrong setting must not be passed over.
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
 * The CLI among what is on this machine already (named, PATH, cache), without download or build; undefined when there is none.
 * For whoever only needs to run `temporal workflow …` against a server.
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
    say(`Temporal: ${found} is on PATH but does not answer --version; passing over it`);
  }
  for (const path of cachedClis(cacheDir(env))) {
    const version = await steps.verify(path);
    if (version === undefined) continue;
    say(`Temporal: ${path} (our cache), ${version}`);
    return { kind: 'cli', from: 'cache', cliPath: path };
  }
  say('Temporal: none on PATH, none in our cache');
  return undefined;
}

/** The first line of `temporal --version`, or undefined when the file is missing, does not run, or takes more than 20 s. */
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

// The SDK's download chooses its own file name; a half-written one ends otherwise and does not answer --version.
function cachedClis(cache: string): string[] {
  const downloads = existsSync(cache)
    ? readdirSync(cache).filter((name) => name.startsWith('temporal-sdk-typescript-'))
    : [];
  const ours = cachedCliPath(cache);
  return [
    ...(existsSync(ours) ? [ours] : []),
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
    'No Temporal server: none was found, downloaded or built (the lines above say why). Any one of these gives one:',
    '  - install the Temporal CLI, so that `temporal` is on PATH (https://docs.temporal.io/cli), or name it with COUNTERSIGN_TEMPORAL_CLI',
    '  - set TEMPORAL_ADDRESS=host:7233 to use a server that runs already',
    '  - install Go 1.25 or newer: the pinned CLI in tools/go.mod is then built, once, in about 3 minutes',
  ].join('\n');
}
