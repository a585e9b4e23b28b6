import { setTimeout as pause } from 'node:timers/promises';
import { startCheckpoints, type CheckpointRun } from '../../workers/checkpoints';
import { eventually } from '../support/eventually';

const signed = (rows: number): Awaited<ReturnType<CheckpointRun['checkpoint']>> => ({
  rows,
  checkpoint: { size: rows, rootHash: '', keyId: '', at: '' },
});

function start(checkpoint: CheckpointRun['checkpoint'], everyMs: number) {
  const log = { info: jest.fn(), error: jest.fn() };
  return { ...startCheckpoints({ checkpoint, maxRows: 10, everyMs, logger: log as never }), log };
}

const HOUR_MS = 3_600_000;

const returning = (rows: (number | null)[]) =>
  jest.fn(async () => {
    const next = rows.shift() ?? null;
    return next === null ? null : signed(next);
  });

it('signs one at the start, and the next at once while rows are left', async () => {
  const rows = [10, 10, 3];
  const checkpoint = returning(rows);
  const { stop } = start(checkpoint, HOUR_MS);
  await eventually('three checkpoints', () => rows.length === 0);
  await stop();
  expect(checkpoint).toHaveBeenCalledTimes(3);
});

it('signs another after each interval, also if there was nothing to sign', async () => {
  const rows = [3, null, 10, 0];
  const { stop } = start(returning(rows), 5);
  await eventually('all checkpoints', () => rows.length === 0);
  await stop();
});

it('logs a failure and retries at the next interval', async () => {
  const checkpoint = jest.fn().mockRejectedValueOnce(new Error('away')).mockResolvedValue(null);
  const { stop, log } = start(checkpoint, 5);
  await eventually('the second checkpoint', () => checkpoint.mock.calls.length > 1);
  await stop();
  expect(log.error.mock.calls).toEqual([[{ error: 'Error: away' }, 'The checkpoint could not be signed']]);
});

it('signs one at a time; stop waits for the one in progress and starts no other', async () => {
  let finish: (value: ReturnType<typeof signed>) => void = () => undefined;
  const checkpoint = jest.fn(() => new Promise<ReturnType<typeof signed>>((resolve) => (finish = resolve)));
  const { stop } = start(checkpoint, 1);
  await eventually('the first', () => checkpoint.mock.calls.length > 0);
  await pause(20);
  expect(checkpoint).toHaveBeenCalledTimes(1);
  let stopped = false;
  const stopping = stop().then(() => (stopped = true));
  await pause(20);
  expect(stopped).toBe(false);
  finish(signed(10));
  await stopping;
  await pause(20);
  expect(checkpoint).toHaveBeenCalledTimes(1);
});
