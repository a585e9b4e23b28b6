import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { compiled } from '../support/compiled';
import { sample } from '../../chaos/sweep/cases';
import { RUN_ALL, sampled } from '../support/extent';

jest.setTimeout(240_000);

/** Runs a program of `chaos/`, which starts its own servers. Resolves with its exit code, its last line parsed as JSON, and its log. */
async function run(
  script: string,
  args: readonly string[],
): Promise<{ code: number | null; last: unknown; log: string }> {
  const file = join(await compiled(), 'chaos', script);
  const { TEMPORAL_ADDRESS: _address, COUNTERSIGN_DATABASE_ADMIN_URL: _url, ...env } = process.env;
  const child = spawn(process.execPath, ['--enable-source-maps', file, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, log] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, last: JSON.parse(out.trim().split('\n').at(-1) || 'null'), log };
}

test('a sample of the crash sweep breaks no invariant, gives each required outcome and leaves no review open, although activities fail once or permanently and workers are killed, hang and lose results [T65, T66, T69]', async () => {
  const names = [...sampled(sample(), 4).map(({ name }) => name), ...Array(RUN_ALL ? 12 : 2).keys()];
  const only = names.flatMap((name) => ['--only', String(name)]);
  const { code, last, log } = await run('sweep/main.js', [...only, '--seed', '2026', '--open', '12', '--json']);
  const runs = names.length;
  const unanswered = { ranAhead: expect.any(Number), timedOut: expect.any(Number), failed: expect.any(Number) };
  expect({ code, last, log: code === 0 ? '' : log }).toEqual({
    code: 0,
    last: {
      ...{ runs, seed: 2026, violations: 0, terminal: runs },
      ...{ repaired: expect.any(Object), repairs: expect.any(Array) },
      queries: { answered: expect.any(Number), ...unanswered },
      replay: { replays: runs, damaged: 0, skipped: 0, failed: 0 },
    },
    log: '',
  });
  expect((last as { queries: { answered: number } }).queries.answered).toBeGreaterThan(0);
});

test('a sample of the races: two concurrent committers cause one effect each on one change, on two changes of one row, and against a rollback [T65]', async () => {
  const { code, last, log } = await run('races/main.js', [
    '--calls',
    RUN_ALL ? '300' : '60',
    '--seed',
    '2026',
    '--json',
  ]);
  expect({ code, log: code === 0 ? '' : log, violations: (last as { violations: number } | null)?.violations }).toEqual(
    {
      code: 0,
      log: '',
      violations: 0,
    },
  );
});
