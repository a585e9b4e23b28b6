import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { readProcess } from '../../bench/soak-readings';
import { compiled } from '../support/compiled';

jest.setTimeout(120_000);

/** Holds 64 MiB in a worker thread, or none; another thread has ended. */
const script = (mib: number): string => `
  const { Worker } = require('node:worker_threads');
  const holding = "require('node:worker_threads').parentPort.on('message', () => {}).postMessage('up');";
  const held = "globalThis.held = Array.from({ length: ${mib} * 1024 }, (_, i) => new Array(128).fill(i));";
  new Worker('', { eval: true }).once('exit', () => {
    new Worker(held + holding, { eval: true }).once('message', () => process.send('up'));
  });`;

/** Starts 100 threads that end at once. */
const ENDING_THREADS = `
  const { Worker } = require('node:worker_threads');
  let running = 100;
  for (let i = 0; i < 100; i++)
    new Worker('process.exit()', { eval: true }).once('exit', () => { if (--running === 0) process.send('up'); });
  process.on('message', () => {});`;

async function readOf(program: string): Promise<Awaited<ReturnType<typeof readProcess>>> {
  const probe = join(await compiled(), 'bench', 'memory-probe.js');
  const child: ChildProcess = spawn(process.execPath, ['--expose-gc', '--require', probe, '-e', program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', (code) => reject(new Error(`The process exited with ${code}`)));
    });
    return await readProcess(child.pid ?? 0, 3);
  } finally {
    child.kill('SIGKILL');
  }
}

test('a reading of the soak finds what a worker thread holds, which the heap of the main thread does not show', async () => {
  const [without, holding] = [await readOf(script(0)), await readOf(script(64))];
  expect(holding['threadsHeapMiB']).toBeGreaterThan((without['threadsHeapMiB'] ?? 0) + 60);
  expect(Math.abs((holding['heapMiB'] ?? 0) - (without['heapMiB'] ?? 0))).toBeLessThan(8);
  expect(holding).toMatchObject({ connections: 3, handles: expect.any(Number), residentMiB: expect.any(Number) });
});

test('a reading does not wait for threads that ended before they were known', async () => {
  expect(await readOf(ENDING_THREADS)).toMatchObject({ threadsHeapMiB: 0 });
});
