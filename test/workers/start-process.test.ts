import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '../../workers/start-process';

const dir = mkdtempSync(join(tmpdir(), 'countersign-process-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const log = join(dir, 'review.log');

function start(program: string) {
  const script = join(dir, 'script.cjs');
  writeFileSync(script, program);
  return startProcess('review', {}, dir, () => {}, script);
}

/** How many descriptors of this process refer to the log. */
const openLogs = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === log;
    } catch {
      return false; // The descriptor that read the directory.
    }
  }).length;

test('the log has what each run writes, and a process that was started again and again leaves no file open', async () => {
  for (const run of [1, 2, 3]) {
    const { ended } = await start(`console.log('run ${run}'); process.send('ready', () => process.exit());`);
    await ended;
  }
  expect(readFileSync(log, 'utf8')).toBe('run 1\nrun 2\nrun 3\n');
  if (process.platform === 'linux') expect(openLogs()).toBe(0);
});

test('a process that does not become ready rejects with the end of what it wrote, and with nothing of an earlier run', async () => {
  writeFileSync(log, 'an earlier run\n');
  const failed = start(`console.error('x'.repeat(5_000)); console.error('invalid settings'); process.exit(2);`);
  await expect(failed).rejects.toThrow(/^review ended with exit code 2:\nx{3982}\ninvalid settings\n\nThe whole log: /);
});
