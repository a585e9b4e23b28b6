import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Say, endWithUs, exited } from './processes';

// Run in a process of its own: the SDK's download cannot be cancelled, a process can be ended. It ends by itself when we die (stdin closes).
const PROGRAM = `
process.stdin.on('end', () => process.exit(3)).resume();
const { TestWorkflowEnvironment } = require(process.argv[1]);
const executable = { type: 'cached-download', downloadDir: process.argv[2], ttl: '365d' };
TestWorkflowEnvironment.createLocal({ server: { executable } })
  .then((env) => env.teardown())
  .then(() => process.exit(0), (error) => { console.error(error.message); process.exit(1); });
`;

/**
 * Lets the Temporal SDK download the Temporal CLI into `dir`. Returns its path, or undefined after a line that says why not:
 * refused, or nothing received for `silentMs`, or `maxMs` in all. Never throws for the network's sake.
 */
export async function downloadTemporalCli(
  dir: string,
  say: Say,
  silentMs = 20_000,
  maxMs = 600_000,
): Promise<string | undefined> {
  say('Temporal: asking the SDK to download the Temporal CLI (it gives up after 20 s without an answer)');
  mkdirSync(dir, { recursive: true });
  const before = new Set(listing(dir));
  const child = spawn(process.execPath, ['-e', PROGRAM, require.resolve('@temporalio/testing'), dir], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  endWithUs(child, 'SIGKILL');
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-4_000)));

  const began = Date.now();
  let received = size(dir, before);
  let lastNews = began;
  let givenUp: string | undefined;
  const watch = setInterval(() => {
    const now = size(dir, before);
    if (now !== received) [received, lastNews] = [now, Date.now()];
    if (Date.now() - lastNews > silentMs) givenUp = `no answer for ${silentMs / 1000} s`;
    else if (Date.now() - began > maxMs) givenUp = `not done after ${maxMs / 1000} s`;
    if (givenUp !== undefined) child.kill('SIGKILL');
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
  say(`Temporal: the download did not work: ${givenUp ?? firstLine(complaint) ?? `exit code ${code}`}`);
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
  // The chain of causes repeats the whole URL each time; where it wanted to go and the last cause say enough.
  return line?.replaceAll(/ for url \(https?:\/\/([^/)]+)[^)]*\)/g, ' ($1)').slice(0, 300);
}
