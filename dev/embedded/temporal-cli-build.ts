import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from './lock-file';
import { packageRoot } from './places';
import { outputOf, type Say, withProgress } from './processes';

const MAX_BUILD_MS = 30 * 60_000;
const CLI_PACKAGE = 'github.com/temporalio/cli/cmd/temporal';

/**
 * Builds the Temporal CLI from the pinned, checksummed module in `tools/` to `target`: 2 min 30 s on two cores the first time.
 * Returns `target`, or logs why it failed and returns undefined (no Go, the build failed). One build at a time for each target:
 * a second process waits for the first and uses its result. The file is renamed into place.
 */
export async function buildTemporalCli(target: string, version: string, say: Say): Promise<string | undefined> {
  const tools = join(packageRoot(), 'tools');
  if (!existsSync(join(tools, 'go.sum'))) {
    say(`Temporal: cannot build the CLI, ${join(tools, 'go.mod')} is missing`);
    return undefined;
  }
  const go = await goVersion();
  if (go === undefined) {
    say('Temporal: cannot build the CLI, there is no `go` on PATH');
    return undefined;
  }
  const ldflags = `-s -w -X github.com/temporalio/cli/temporalcli.Version=${version}`;
  const built = await buildGo({
    module: tools,
    packages: [CLI_PACKAGE],
    targets: [target],
    ldflags,
    what: `the Temporal CLI ${version} (${go})`,
    say,
  });
  return built ? target : undefined;
}

/** What to build: `packages[i]` of the Go module in folder `module` becomes the file `targets[i]`. */
interface GoBuild {
  readonly module: string;
  readonly packages: readonly string[];
  readonly targets: readonly string[];
  readonly ldflags?: string;
  readonly what: string;
  readonly say: Say;
}

/** Builds Go programs under a lock file next to the first target; existing targets are kept. Logs why and returns false on failure. */
export async function buildGo({ module, packages, targets, ldflags = '-s -w', what, say }: GoBuild): Promise<boolean> {
  const [first] = targets;
  if (first === undefined) return true;
  mkdirSync(dirname(first), { recursive: true });
  const lock = await waitForLock(`${first}.lock`, what, say);
  try {
    for (const [i, target] of targets.entries()) {
      if (existsSync(target)) continue;
      say(`Building ${what}: once, about 3 minutes on two cores, into ${target}`);
      const partial = `${target}.${process.pid}.partial`;
      const args = ['build', '-trimpath', '-ldflags', ldflags, '-o', partial, packages[i] ?? ''];
      const result = await withProgress(say, `Building ${what}`, runGo(args, module));
      if (result !== undefined) {
        rmSync(partial, { force: true });
        say(`Building ${what} failed: ${result}`);
        return false;
      }
      renameSync(partial, target);
    }
    return true;
  } finally {
    lock.release();
  }
}

async function waitForLock(path: string, what: string, say: Say): Promise<{ release(): void }> {
  const until = Date.now() + MAX_BUILD_MS;
  let lastLogged = 0;
  for (;;) {
    const attempt = tryLock(path);
    if (attempt.kind === 'held') return attempt;
    if (Date.now() > until)
      throw new Error(
        `Process ${attempt.holder.pid} has been building ${what} for more than 30 minutes; end it and try again`,
      );
    if (Date.now() - lastLogged > 10_000) {
      say(`Waiting for process ${attempt.holder.pid}, which is building ${what}`);
      lastLogged = Date.now();
    }
    await sleep(500);
  }
}

// The last lines of Go's errors; undefined on success.
async function runGo(args: readonly string[], cwd: string): Promise<string | undefined> {
  // GOWORK and GOFLAGS of the user must not change what the checksums pin.
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=readonly' };
  const child = spawn('go', args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const { code, output } = await outputOf(child, MAX_BUILD_MS);
  return code === 0 ? undefined : output.split('\n').slice(-5).join('\n') || `exit code ${code}`;
}

function goVersion(): Promise<string | undefined> {
  return new Promise((done) => {
    execFile('go', ['env', 'GOVERSION'], { timeout: 20_000, encoding: 'utf8' }, (error, stdout) =>
      done(error === null ? stdout.trim() : undefined),
    );
  });
}
