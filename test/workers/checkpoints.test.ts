import { startCheckpoints, type CheckpointRun } from '../../workers/checkpoints';

const signed = (rows: number): Awaited<ReturnType<CheckpointRun['checkpoint']>> => ({
  rows,
  checkpoint: { size: rows, rootHash: '', keyId: '', at: '' },
});
const logger = () => ({ info: jest.fn(), error: jest.fn() });
beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

function start(checkpoint: CheckpointRun['checkpoint'], log = logger()) {
  return { ...startCheckpoints({ checkpoint, maxRows: 10, everyMs: 60_000, logger: log as never }), log };
}

it('signs one at the start and then one a minute, and the next at once while rows are left', async () => {
  const rows = [10, 10, 3, null, 10, 0];
  const checkpoint = jest.fn(async () => {
    const next = rows.shift() ?? null;
    return next === null ? null : signed(next);
  });
  const { stop } = start(checkpoint);
  await jest.advanceTimersByTimeAsync(0);
  expect(checkpoint).toHaveBeenCalledTimes(3);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(checkpoint).toHaveBeenCalledTimes(4);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(checkpoint).toHaveBeenCalledTimes(6);
  await stop();
});

it('logs a failure and retries at the next interval', async () => {
  const checkpoint = jest.fn().mockRejectedValueOnce(new Error('away')).mockResolvedValue(null);
  const { stop, log } = start(checkpoint);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(log.error).toHaveBeenCalledTimes(1);
  expect(checkpoint).toHaveBeenCalledTimes(2);
  await stop();
});

it('signs one at a time; stop waits for the one in progress and starts no other', async () => {
  let finish: (value: ReturnType<typeof signed>) => void = () => undefined;
  const checkpoint = jest.fn(() => new Promise<ReturnType<typeof signed>>((resolve) => (finish = resolve)));
  const { stop } = start(checkpoint);
  await jest.advanceTimersByTimeAsync(180_000);
  expect(checkpoint).toHaveBeenCalledTimes(1);
  let stopped = false;
  const stopping = stop().then(() => (stopped = true));
  await jest.advanceTimersByTimeAsync(0);
  expect(stopped).toBe(false);
  finish(signed(10));
  await stopping;
  await jest.advanceTimersByTimeAsync(180_000);
  expect(checkpoint).toHaveBeenCalledTimes(1);
});
