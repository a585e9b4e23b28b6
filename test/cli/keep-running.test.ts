import { keepRunning } from '../../cli/servers/keep-running';

interface Fake {
  readonly name: string;
  crash(): void;
  stopped: boolean;
}

/** Processes that end when the test says so, and a clock that only `sleep` moves. */
function world(failing: (name: string, attempt: number) => boolean = () => false) {
  const started: Fake[] = [];
  const waits: number[] = [];
  const logs: string[] = [];
  let now = 0;
  const start = async (name: string) => {
    const attempt = started.filter((each) => each.name === name).length;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const fake: Fake = { name, crash: end, stopped: false };
    started.push(fake);
    if (failing(name, attempt)) throw new Error(`${name} ended with exit code 2`);
    const stop = async (): Promise<void> => {
      fake.stopped = true;
      end();
    };
    return { ended, stop };
  };
  const sleep = async (ms: number): Promise<void> => {
    waits.push(ms);
    now += ms;
  };
  return {
    started,
    waits,
    logs,
    pass: (ms: number) => (now += ms),
    of: (name: string) => started.filter((each) => each.name === name),
    run: (names: readonly string[]) =>
      keepRunning(names, { start, sleep, now: () => now, log: (text) => void logs.push(text) }),
  };
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

test('a process that ends is started again, after a wait that doubles up to half a minute', async () => {
  const { run, of, waits } = world();
  const running = await run(['review', 'gateway']);
  for (let i = 0; i < 7; i++) {
    of('review').at(-1)?.crash();
    await settle();
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16000, 30000, 30000]);
  expect([of('review').length, of('gateway').length]).toEqual([8, 1]);
  await running.stop();
  expect([of('review').at(-1)?.stopped, of('gateway')[0]?.stopped]).toEqual([true, true]);
});

test('after a minute of running, the next wait is the shortest again', async () => {
  const { run, of, waits, pass } = world();
  const running = await run(['review']);
  for (const upFor of [0, 0, 60_000]) {
    pass(upFor);
    of('review').at(-1)?.crash();
    await settle();
  }
  expect(waits).toEqual([1000, 2000, 1000]);
  await running.stop();
});

test('a restart that does not become ready is tried again', async () => {
  const { run, of, waits, logs } = world((_, attempt) => attempt === 1 || attempt === 2);
  const running = await run(['review']);
  of('review')[0]?.crash();
  await settle();
  expect(waits).toEqual([1000, 2000, 4000]);
  expect(logs.filter((text) => text.includes('exit code 2'))).toHaveLength(2);
  await running.stop();
  expect(of('review').at(-1)?.stopped).toBe(true);
});

test('if a process does not become ready the first time, the others are stopped and the error is thrown', async () => {
  const { run, of } = world((name) => name === 'judge');
  await expect(run(['review', 'judge'])).rejects.toThrow('judge ended with exit code 2');
  expect(of('review')[0]?.stopped).toBe(true);
});

test('nothing is started after stop', async () => {
  const { run, started } = world();
  const running = await run(['review', 'judge']);
  await running.stop();
  await settle();
  expect(started).toHaveLength(2);
});
