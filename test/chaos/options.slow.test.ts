import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { compiled } from '../support/compiled';
import { sampled } from '../support/extent';

jest.setTimeout(120_000);

/** None of these starts a server. Each fifth case is a sample with one of each folder. */
const CASES: readonly [script: string, args: readonly string[], words: string][] = [
  ['chaos/sweep/main.js', ['--open', '0'], '--open: expected a whole number from 1, got "0"'],
  ['chaos/sweep/main.js', ['--runs', '0'], '--runs: expected at least one review'],
  ['chaos/sweep/main.js', ['--only', 'activity.none'], '--only activity.none: expected the number of a random run'],
  ['chaos/races/main.js', ['--calls', 'ten'], '--calls: expected a whole number from 1, got "ten"'],
  ['chaos/sweep-evidence.js', ['--runs', ''], '--runs: expected a whole number from 1, got ""'],
  ['bench/commit.js', ['--reviews', '1.5'], '--reviews: expected a whole number from 1, got "1.5"'],
  ['chaos/upgrades/main.js', ['--rate', '0'], '--rate: expected a number above 0, got "0"'],
  ['bench/soak.js', ['--minutes', '1'], '--minutes: expected time for 11 readings, one every 15 s'],
  ['bench/open.js', ['--reviews', '5', '--placed', '5'], '--placed: expected fewer than --reviews'],
  ['examples/attacks/main.js', ['--part', '9/8'], '--part: expected i/n with i from 1 to n, got "9/8"'],
  ['examples/attacks/main.js', ['--onyl', 'x'], "Unknown option '--onyl'"],
];

/** A run that tests nothing must not pass. */
test.each(sampled(CASES, 5))('%s %j ends with exit code 2 and says what is wrong', async (script, args, words) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(await compiled(), script), ...args], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect({ status, stdout, says: stderr.includes(words) ? words : stderr }).toEqual({
    status: 2,
    stdout: '',
    says: words,
  });
});
