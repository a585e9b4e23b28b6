import { Hono } from 'hono';
import { startLoopbackServer } from '../../dev/fixtures/loopback-server';
import { ConfigError } from '../../workers/config-error';
import { listen } from '../../workers/listen';

const address = { hostname: '127.0.0.1', variable: 'COUNTERSIGN_GATEWAY_PORT' };

test('an address that is in use is an error of the configuration that names the variable', async () => {
  const { port, stop } = await startLoopbackServer(() => {});
  const used = listen(new Hono(), { ...address, port });
  await expect(used).rejects.toThrow(/^COUNTERSIGN_GATEWAY_PORT: cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/);
  await expect(used).rejects.toBeInstanceOf(ConfigError);
  await stop();
  const server = await listen(
    new Hono().get('/', (c) => c.text('here')),
    { ...address, port },
  );
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('here');
  server.close();
});
