import { cacheDir } from '../../workers/cache-dir';
import {
  cachedCliPath,
  findInstalledCli,
  TEMPORAL_CLI_VERSION,
  temporalVersion,
  type InstalledTemporalCli,
} from './installed-temporal-cli';
import { buildTemporalCli } from './temporal-cli-build';
import { downloadTemporalCli } from './temporal-cli-download';
import type { Env } from './places';
import type { Say } from './processes';

/** How the Temporal server was found, in the order of the search. */
type TemporalSource =
  | { readonly kind: 'address'; readonly address: string; readonly cliPath: string | undefined }
  | InstalledTemporalCli
  | { readonly kind: 'cli'; readonly from: 'download' | 'build'; readonly cliPath: string };

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
    return { kind: 'address', address, cliPath: (await findInstalledCli(env, steps.verify))?.cliPath };
  }
  const installed = await findInstalledCli(env, steps.verify, say);
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

function howToGetOne(): string {
  return [
    'No Temporal server: none was found, downloaded or built (the lines above say why). To get one:',
    '  - install the Temporal CLI, so that `temporal` is on PATH (https://docs.temporal.io/cli), or name it with COUNTERSIGN_TEMPORAL_CLI',
    '  - set TEMPORAL_ADDRESS=host:7233 to use a running server',
    '  - install Go 1.25 or newer: the pinned CLI in tools/go.mod is then built, once, in about 3 minutes',
  ].join('\n');
}
