import { getEventListeners } from 'node:events';
import { targetSlots } from '../../../activities/committer/target-slots';

/** A signal that never aborts. Each activity has its own; Node.js warns of many listeners of one. */
const never = (): AbortSignal => new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Calls that run until they are ended, in the order in which they started. */
function world(perTarget: number, maxWaiting?: number) {
  const slots = targetSlots(perTarget, maxWaiting);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const call = (name: string, tenant: string, target = 'shop', signal = never()): Promise<string> =>
    slots.run({ tenant, target }, signal, () => {
      started.push(name);
      return new Promise((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await turn();
  };
  return { call, end, started };
}

test('runs at most the given number of calls of one target at a time, and other targets beside them', async () => {
  const { call, end, started } = world(2);
  const calls = ['a', 'b', 'c'].map((name) => call(name, 'acme'));
  calls.push(call('other', 'acme', 'bank'));
  await turn();
  expect(started).toEqual(['a', 'b', 'other']);
  await end('a');
  expect(started).toEqual(['a', 'b', 'other', 'c']);
  for (const name of ['b', 'c', 'other']) await end(name);
  expect(await Promise.all(calls)).toEqual(['a', 'b', 'c', 'other']);
});

test('gives free slots to the waiting tenants in turn, however many calls one of them has', async () => {
  const { call, end, started } = world(1);
  const flood = Array.from({ length: 20 }, (_, i) => call(`flood${i}`, 'flooding'));
  const two = [call('x', 'small'), call('y', 'small')];
  await turn();
  await end('flood0');
  await end('flood1');
  await end('x');
  await end('flood2');
  expect(started).toEqual(['flood0', 'flood1', 'x', 'flood2', 'y']);
  await end('y');
  for (let i = 3; i < 20; i++) await end(`flood${i}`);
  await Promise.all([...flood, ...two]);
});

test('refuses a call, to be retried, if too many of its tenant wait, and still accepts those of another tenant', async () => {
  const { call, end } = world(1, 2);
  const accepted = [call('a', 'flooding'), call('b', 'flooding'), call('c', 'flooding')];
  await expect(call('d', 'flooding')).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE', nonRetryable: false });
  accepted.push(call('e', 'small'));
  for (const name of ['a', 'b', 'e', 'c']) await end(name);
  expect(await Promise.all(accepted)).toEqual(['a', 'b', 'c', 'e']);
});

test('frees the slot of a call that throws', async () => {
  const slots = targetSlots(1);
  const fail = slots.run({ tenant: 'acme', target: 'shop' }, never(), () => Promise.reject(new Error('no')));
  const next = slots.run({ tenant: 'acme', target: 'shop' }, never(), async () => 'next');
  await expect(fail).rejects.toThrow('no');
  expect(await next).toBe('next');
});

test('rejects a waiting call whose activity is cancelled, and never starts it', async () => {
  const { call, end, started } = world(1);
  const first = call('a', 'acme');
  const cancel = new AbortController();
  const waiting = call('b', 'acme', 'shop', cancel.signal);
  const last = call('c', 'acme');
  cancel.abort(new Error('cancelled'));
  await expect(waiting).rejects.toThrow('cancelled');
  await end('a');
  await end('c');
  await Promise.all([first, last]);
  expect(started).toEqual(['a', 'c']);
  await expect(call('d', 'acme', 'shop', cancel.signal)).rejects.toThrow('cancelled');
});

test('does not listen to the cancellation of a call that no longer waits', async () => {
  const { call, end } = world(1);
  const { signal } = new AbortController();
  const calls = [call('a', 'acme'), call('b', 'acme', 'shop', signal)];
  await turn();
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await end('a');
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  await end('b');
  await Promise.all(calls);
});

test('runs a cancelled call to its end if it has a slot', async () => {
  const { call, end } = world(1);
  const cancel = new AbortController();
  const running = call('a', 'acme', 'shop', cancel.signal);
  await turn();
  cancel.abort(new Error('cancelled'));
  await end('a');
  expect(await running).toBe('a');
});
