import { connect, type AddressInfo } from 'node:net';
import { Hono } from 'hono';
import { stream } from 'hono/streaming';
import { startLoopbackServer } from '../../dev/fixtures/loopback-server';
import { ConfigError } from '../../workers/config-error';
import { listen } from '../../workers/listen';

const address = { hostname: '127.0.0.1', variable: 'COUNTERSIGN_GATEWAY_PORT' };

test('an address that is in use, or of an interface that is not up yet, is named in an error other than ConfigError, so that a supervisor tries again', async () => {
  const { port, stop } = await startLoopbackServer(() => {});
  const used = listen(new Hono(), { ...address, port });
  await expect(used).rejects.toThrow(/^COUNTERSIGN_GATEWAY_PORT: cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/);
  await expect(used).rejects.not.toBeInstanceOf(ConfigError);
  const absent = listen(new Hono(), { ...address, hostname: '192.0.2.1', port: 0 });
  await expect(absent).rejects.toThrow(/EADDRNOTAVAIL/);
  await expect(absent).rejects.not.toBeInstanceOf(ConfigError);
  await stop();
  const server = await listen(
    new Hono().get('/', (c) => c.text('here')),
    { ...address, port },
  );
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('here');
  server.close();
});

test('a connection ends whose client has stopped reading', async () => {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const app = new Hono().get('/endless', (c) =>
    stream(c, async (out) => {
      out.onAbort(end);
      while (!out.aborted) await out.write(new Uint8Array(65_536));
    }),
  );
  const server = await listen(app, { ...address, port: 0, idleMs: 300 });
  const deaf = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  deaf.pause();
  deaf.write('GET /endless HTTP/1.1\r\nHost: gateway\r\n\r\n');
  await ended;
  deaf.destroy();
  server.close();
});

test('a connection that waits for a late response does not end', async () => {
  const app = new Hono().get('/late', async (c) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return c.text('late');
  });
  const server = await listen(app, { ...address, port: 0, idleMs: 20_000 });
  const { port } = server.address() as AddressInfo;
  expect(await (await fetch(`http://127.0.0.1:${port}/late`)).text()).toBe('late');
  server.close();
});
