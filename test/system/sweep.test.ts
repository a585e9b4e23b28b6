import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { compiled } from '../support/compiled';

jest.setTimeout(240_000);

/** Runs a program of `chaos/` with servers that it starts itself; resolves with its exit code and its last line. */
async function run(
  script: string,
  args: readonly string[],
): Promise<{ code: number | null; last: unknown; said: string }> {
  const file = join(await compiled(), 'chaos', script);
  const { TEMPORAL_ADDRESS: _theirs, COUNTERSIGN_DATABASE_ADMIN_URL: _url, ...env } = process.env;
  const child = spawn(process.execPath, ['--enable-source-maps', file, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, said] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, last: JSON.parse(out.trim().split('\n').at(-1) ?? 'null'), said };
}

test('a sample of the crash sweep: every activity fails once and for good, workers are killed, hang and lose reports; no invariant breaks, each outcome is as required, no review stays open [T65, T66, T69]', async () => {
  const args = ['--sample', '--runs', '12', '--seed', '2026', '--open', '12', '--json'];
  const { code, last, said } = await run('sweep/main.js', args);
  expect({ code, last, said: code === 0 ? '' : said }).toEqual({
    code: 0,
    last: { runs: 37, seed: 2026, violations: 0, terminal: 37 },
    said: '',
  });
});

test('a sample of the races: two committers at once on the same change, on two changes of one row, and against a rollback make one effect each [T65]', async () => {
  const { code, last, said } = await run('races/main.js', ['--calls', '300', '--seed', '2026', '--json']);
  expect({ code, said: code === 0 ? '' : said, violations: (last as { violations: number }).violations }).toEqual({
    code: 0,
    said: '',
    violations: 0,
  });
});
