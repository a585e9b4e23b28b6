import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { withHeartbeat } from '../../activities/heartbeat';

/** Less than the shortest heartbeat timeout of an activity, 15 s. */
const LONG_MS = 13_000;

function environment(): { readonly env: MockActivityEnvironment; readonly beats: () => number } {
  const env = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  let beats = 0;
  env.on('heartbeat', () => beats++);
  return { env, beats: () => beats };
}

afterEach(() => jest.useRealTimers());

it('sends no heartbeat for work that ends soon', async () => {
  const { env, beats } = environment();
  await expect(env.run(() => withHeartbeat(async () => 'done'))).resolves.toBe('done');
  expect(beats()).toBe(0);
});

it('sends a heartbeat every four seconds while the work takes long, and none after it', async () => {
  jest.useFakeTimers();
  const { env, beats } = environment();
  const running = env.run(() => withHeartbeat(() => new Promise((resolve) => setTimeout(resolve, LONG_MS))));
  await jest.advanceTimersByTimeAsync(LONG_MS);
  await running;
  expect(beats()).toBe(3);
  await jest.advanceTimersByTimeAsync(LONG_MS);
  expect(beats()).toBe(3);
});

it('aborts the work when the activity is cancelled', async () => {
  const { env } = environment();
  const running = env.run(() =>
    withHeartbeat(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return 'aborted';
    }),
  );
  env.cancel('CANCELLED');
  await expect(running).resolves.toBe('aborted');
});
