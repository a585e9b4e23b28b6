import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replayInProcess } from '../../workers/replay/replay-process';

const dir = mkdtempSync(join(tmpdir(), 'countersign-replay-'));
const script = join(dir, 'replay.cjs');
const replayed = { changeId: 'a'.repeat(64), runId: null, result: 'replays', why: '' };
writeFileSync(
  script,
  `process.once('message', () => process.send(${JSON.stringify(replayed)})); setInterval(() => {}, 1000);`,
);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('a stopped replay rejects after the result that was being recorded, and its process has ended', async () => {
  const stopping = new AbortController();
  const recorded: unknown[] = [];
  const each = async (result: unknown): Promise<void> => {
    stopping.abort();
    await new Promise((resolve) => setTimeout(resolve, 100));
    recorded.push(result);
  };
  await expect(replayInProcess(['a'], each, { script, signal: stopping.signal })).rejects.toMatchObject({
    name: 'AbortError',
  });
  expect(recorded).toEqual([replayed]);
});

test('a result that cannot be recorded ends the process and rejects with that failure', async () => {
  const each = (): Promise<void> => Promise.reject(new Error('the ledger cannot be reached'));
  const { signal } = new AbortController();
  await expect(replayInProcess(['a'], each, { script, signal })).rejects.toThrow('the ledger cannot be reached');
});
