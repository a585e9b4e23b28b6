import { EventEmitter } from 'node:events';
import { Worker } from 'node:worker_threads';
import { CountersignFailure } from '../../../policy/contracts/failure';
import { ThreadPool } from '../../../activities/review/thread-pool';

/** A thread that does what the task says, once it is ready. */
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  if (workerData === 'broken') throw new Error('no such module');
  setTimeout(() => parentPort.postMessage('ready'), workerData === 'slow' ? 3_000 : 0);
  parentPort.on('message', ({ does }) => {
    if (does === 'loop') for (;;);
    if (does === 'exit') process.exit(0);
    if (does === 'throw') throw new RangeError('secret of the diff');
    if (does === 'eat') { const all = []; for (;;) all.push(new Array(1e5).fill(1.5)); }
    if (does === 'refuse') return parentPort.postMessage({ ok: false, message: 'TypeError' });
    parentPort.postMessage({ ok: true, json: JSON.stringify(does) });
  });`;

let started = 0;
let pool: ThreadPool;
const poolOf = (size: number, wallMs = 60_000, workerData = ''): ThreadPool => {
  started = 0;
  return new ThreadPool({
    start: () => {
      started++;
      return new Worker(THREAD, { eval: true, workerData, resourceLimits: { maxOldGenerationSizeMb: 64 } });
    },
    size,
    wallMs,
  });
};
const failure = async (does: string): Promise<CountersignFailure> => {
  const error: unknown = await pool.run({ does }).catch((e: unknown) => e);
  if (!(error instanceof CountersignFailure)) throw new Error(`expected a failure, got ${String(error)}`);
  return error;
};
afterEach(() => pool.close());

test('answers every task, and starts no more threads than its size', async () => {
  pool = poolOf(2);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => pool.run({ does: `task ${i}` })));
  expect(answers.map((json) => JSON.parse(json) as string)).toEqual(Array.from({ length: 20 }, (_, i) => `task ${i}`));
  expect(started).toBe(2);
});

test.each(['loop', 'exit', 'throw', 'eat'])(
  'fails the task of a thread that does "%s" with a retryable ErrValidatorBackend, and answers the next task [F20, G32]',
  async (does) => {
    pool = poolOf(1, does === 'loop' ? 2_000 : 60_000);
    const [error, next] = await Promise.all([failure(does), pool.run({ does: 'next' })]);
    expect(error).toMatchObject({ type: 'ErrValidatorBackend', nonRetryable: false });
    expect(error.message).not.toMatch(/secret/);
    expect(next).toBe('"next"');
  },
);

test('starts the wall-clock limit of a task when a thread takes it, not while it is queued', async () => {
  pool = poolOf(1, 2_000);
  const failed = failure('loop');
  expect(await pool.run({ does: 'waited' })).toBe('"waited"');
  expect((await failed).message).toMatch(/longer than 2000 ms/);
});

test('does not count the start of a thread in the wall-clock limit of a task', async () => {
  pool = poolOf(2, 2_000, 'slow');
  expect(await Promise.all([pool.run({ does: 'a' }), pool.run({ does: 'b' })])).toEqual(['"a"', '"b"']);
});

test('fails every task if threads cannot start, with at most one start for each task', async () => {
  pool = poolOf(2, 60_000, 'broken');
  const errors = await Promise.all([failure('a'), failure('b'), failure('c')]);
  for (const error of errors) expect(error).toMatchObject({ type: 'ErrValidatorBackend', nonRetryable: false });
  expect(started).toBeLessThanOrEqual(3);
});

test('fails a task if no thread can be created, as under a limit of the system, and answers later ones', async () => {
  let limited = true;
  pool = new ThreadPool({
    start: () => {
      if (limited)
        throw Object.assign(new Error('Worker initialization failure: EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
      return new Worker(THREAD, { eval: true });
    },
    size: 2,
    wallMs: 60_000,
  });
  for (const error of await Promise.all([failure('a'), failure('b')]))
    expect(error).toMatchObject({
      type: 'ErrValidatorBackend',
      nonRetryable: false,
      message: expect.stringContaining('ERR_WORKER_INIT_FAILED'),
    });
  limited = false;
  expect(await pool.run({ does: 'c' })).toBe('"c"');
});

test('lets a task wait for the threads that exist if no further one can be created', async () => {
  let created = 0;
  pool = new ThreadPool({
    start: () => {
      if (created++ > 0) throw new Error('no thread');
      return new Worker(THREAD, { eval: true });
    },
    size: 2,
    wallMs: 60_000,
  });
  expect(await Promise.all([pool.run({ does: 'a' }), pool.run({ does: 'b' })])).toEqual(['"a"', '"b"']);
});

test('keeps the main thread free while a thread is busy', async () => {
  pool = poolOf(1, 1_000);
  const failed = failure('loop');
  let turns = 0;
  const counting = setInterval(() => turns++, 10);
  await failed;
  clearInterval(counting);
  expect(turns).toBeGreaterThan(5);
});

test('fails a task that a thread could not do, and every task after the pool is closed', async () => {
  pool = poolOf(1);
  expect((await failure('refuse')).message).toMatch(/TypeError/);
  await pool.close();
  expect((await failure('late')).message).toMatch(/closed/);
});

test('a thread that fails after it was terminated because it did not start in time fails only the task that waited for it', async () => {
  jest.useFakeTimers();
  try {
    const threads: EventEmitter[] = [];
    pool = new ThreadPool({
      start: () => {
        const thread = Object.assign(new EventEmitter(), { terminate: async () => 1 });
        threads.push(thread);
        return thread as unknown as Worker;
      },
      size: 1,
      wallMs: 60_000,
    });
    const failed = failure('late');
    jest.advanceTimersByTime(60_000);
    expect((await failed).message).toMatch(/did not start in 60000 ms/);
    expect(threads[0]?.emit('error', new Error('out of memory'))).toBe(true);
  } finally {
    jest.useRealTimers();
  }
});
