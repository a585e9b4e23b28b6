import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Say, stopOnExit, exited } from './processes';

// Runs in a separate process: the SDK's download cannot be cancelled, but a process can be stopped. It exits when stdin closes.
const PROGRAM = `
process.stdin.on('end', () => process.exit(3)).resume();
const { TestWorkflowEnvironment } = require(process.argv[1]);
const executable = { type: 'cached-download', downloadDir: process.argv[2], ttl: '365d' };
TestWorkflowEnvironment.createLocal({ server: { executable } })
  .then((env) => env.teardown())
  .then(() => process.exit(0), (error) => { console.error(error.message); process.exit(1); });
`;

const SILENT_MS = 20_000;
const MAX_MS = 600_000;

/**
 * Lets the Temporal SDK download the Temporal CLI into `dir`. Returns its path, or logs why it failed and returns undefined:
 * refused, nothing received for SILENT_MS, or not done after MAX_MS. Does not throw for network errors.
 */
export async function downloadTemporalCli(dir: string, say: Say): Promise<string | undefined> {
  say('Temporal: asking the SDK to download the Temporal CLI (it gives up after 20 s without an answer)');
  mkdirSync(dir, { recursive: true });
  const before = new Set(listing(dir));
  const child = spawn(process.execPath, ['-e', PROGRAM, require.resolve('@temporalio/testing'), dir], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  stopOnExit(child, 'SIGKILL');
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4_000)));

  const began = Date.now();
  let received = size(dir, before);
  let lastProgress = began;
  let abortReason: string | undefined;
  const watch = setInterval(() => {
    const now = size(dir, before);
    if (now !== received) [received, lastProgress] = [now, Date.now()];
    if (Date.now() - lastProgress > SILENT_MS) abortReason = `no answer for ${SILENT_MS / 1000} s`;
    else if (Date.now() - began > MAX_MS) abortReason = `not done after ${MAX_MS / 1000} s`;
    if (abortReason !== undefined) child.kill('SIGKILL');
    else if ((Date.now() - began) % 10_000 < 500) say(`Temporal: downloading, ${Math.round(received / 1e6)} MB so far`);
  }, 500);
  const code = await exited(child).finally(() => clearInterval(watch));

  const name = listing(dir).find(
    (each) => !before.has(each) && each.startsWith('temporal-sdk-typescript-') && !each.endsWith('.downloading'),
  );
  if (code === 0 && name !== undefined) {
    say(`Temporal: downloaded to ${join(dir, name)}`);
    return join(dir, name);
  }
  for (const each of listing(dir))
    if (!before.has(each) && each.endsWith('.downloading')) rmSync(join(dir, each), { force: true });
  say(`Temporal: the download did not work: ${abortReason ?? firstLine(errors) ?? `exit code ${code}`}`);
  return undefined;
}

// The SDK's own part file is a mark of its progress, so an old one of a killed run must not count as ours.
function listing(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.startsWith('temporal-sdk-'));
}

function size(dir: string, before: ReadonlySet<string>): number {
  let bytes = 0;
  for (const name of listing(dir)) {
    if (!before.has(name)) bytes += statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}

function firstLine(text: string): string | undefined {
  const line = text
    .split('\n')
    .find((each) => each.trim() !== '' && !each.includes('DeprecationWarning'))
    ?.trim();
  // The chain of causes repeats the URL each time; the host and the last cause are enough.
  return line?.replaceAll(/ for url \(https?:\/\/([^/)]+)[^)]*\)/g, ' ($1)').slice(0, 300);
}
