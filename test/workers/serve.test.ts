import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { stream } from 'hono/streaming';
import { serveUntilStopped, stopSignal } from '../../workers/serve';

/** Serves an app on a free port. */
async function serving(app: Hono) {
  const stop = new AbortController();
  let listening = (_: number): void => {};
  const port = new Promise<number>((resolve) => (listening = resolve));
  const ended = serveUntilStopped(app, {
    hostname: '127.0.0.1',
    port: 0,
    variable: 'COUNTERSIGN_GATEWAY_PORT',
    stopping: stop.signal,
    logger: { info: (facts: unknown) => listening((facts as { port: number }).port) },
    // A test has Jest as its parent process.
    listens: () => {},
  });
  const address = { host: '127.0.0.1', port: await port };
  // One connection, which is kept alive as by the clients of an SDK.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const get = (path: string, received = (_: string): void => {}): Promise<string> =>
    new Promise((resolve, reject) => {
      request({ ...address, path, agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => received((text += chunk)));
        response.once('end', () => resolve(text)).once('error', reject);
      })
        .once('error', reject)
        .end();
    });
  return { get, stop: () => stop.abort(), ended, signal: stop.signal };
}

/** Less than the 5 s for which Node.js keeps an idle connection. */
const WITHIN_MS = 4_500;

/** Rejects if it does not end in that time. */
const soon = (work: Promise<void>): Promise<void> =>
  Promise.race([
    work,
    sleep(WITHIN_MS, undefined, { ref: false }).then(() => {
      throw new Error(`did not stop within ${WITHIN_MS} ms`);
    }),
  ]);

test('stops although a client sends the next request on its connection as soon as it has an answer', async () => {
  let answered = 0;
  const app = new Hono().get('/', async (c) => {
    // While a request is open: an idle connection would be closed.
    if ((answered += 1) === 3) stop();
    await sleep(10);
    return c.text('here');
  });
  const { get, stop, ended } = await serving(app);
  const loop = (async () => {
    for (;;) await get('/');
  })();
  await expect(loop).rejects.toThrow('ECONNREFUSED');
  expect(answered).toBe(3);
  await soon(ended);
});

test('answers a request that is open when it stops, and then stops at once', async () => {
  let finish = (): void => {};
  const late = new Promise<void>((resolve) => (finish = resolve));
  let asked = (): void => {};
  const open = new Promise<void>((resolve) => (asked = resolve));
  const app = new Hono().get('/', async (c) => {
    asked();
    await late;
    return c.text('late');
  });
  const { get, stop, ended } = await serving(app);
  const answer = get('/');
  await open;
  stop();
  finish();
  expect(await answer).toBe('late');
  await soon(ended);
});

test('stops at once after the end of a stream, whose connection would be kept alive', async () => {
  let ending: AbortSignal | undefined;
  const app = new Hono().get('/', (c) =>
    stream(c, async (out) => {
      await out.write('first');
      await new Promise<void>((resolve) => ending?.addEventListener('abort', () => resolve()));
    }),
  );
  const { get, stop, ended, signal } = await serving(app);
  ending = signal;
  const text = get('/', stop);
  expect(await text).toBe('first');
  await soon(ended);
});

test('the end of the terminal stops in order too', () => {
  const stopping = stopSignal();
  // Without a listener, the signal would end the process.
  expect(process.emit('SIGHUP', 'SIGHUP')).toBe(true);
  expect(stopping.aborted).toBe(true);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
});
