import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readHolder, tryLock } from '../../../dev/embedded/lock-file';
import { exited, startTime } from '../../../dev/embedded/processes';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-lock-'));
  path = join(dir, 'lock.json');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function take(): Extract<ReturnType<typeof tryLock>, { kind: 'held' }> {
  const attempt = tryLock(path);
  if (attempt.kind !== 'held') throw new Error('expected to get the lock');
  return attempt;
}

/** A process that lives until it is ended. */
async function otherProcess(): Promise<{ pid: number; end(): Promise<void> }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('spawn', resolve));
  return {
    pid: child.pid ?? 0,
    end: async () => {
      child.kill('SIGKILL');
      await exited(child);
    },
  };
}

it('names the running process that owns it, with its facts', () => {
  take().update({ uiUrl: 'http://127.0.0.1:8233' });
  expect(tryLock(path)).toMatchObject({
    kind: 'busy',
    holder: { pid: process.pid, facts: { uiUrl: 'http://127.0.0.1:8233' } },
  });
});

it('is free after its release; releasing twice is a no-op', () => {
  const first = take();
  first.release();
  const second = take();
  first.release();
  expect(readHolder(path)?.pid).toBe(process.pid);
  second.release();
  expect(readdirSync(dir)).toEqual([]);
});

it('is taken over from a process that has died', async () => {
  const other = await otherProcess();
  writeFileSync(path, JSON.stringify({ pid: other.pid, startTime: startTime(other.pid), facts: { uiUrl: 'u' } }));
  expect(tryLock(path).kind).toBe('busy');
  await other.end();
  take().release();
});

it('does not mistake a process that reuses the pid for the one that died', async () => {
  const other = await otherProcess();
  writeFileSync(path, JSON.stringify({ pid: other.pid, startTime: 'long ago', facts: {} }));
  take().release();
  await other.end();
});

it.each(['', 'not json', '{"pid":"1"}'])('takes over a file that is not a valid lock: %j', (text) => {
  writeFileSync(path, text);
  take().release();
});
