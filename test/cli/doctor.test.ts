import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkGateway } from '../../cli/doctor/gateway';
import { checkNode } from '../../cli/doctor/machine';
import { checkVersion, queueCheck } from '../../cli/doctor/temporal';
import { engines } from '../../package.json';
import type { LocalClient } from '../../workers/local-client';

test.each([
  ['18.20.8', false],
  ['20.19.6', false],
  ['20.20.0', true],
  ['22.0.0', true],
  ['24.1.0', true],
])('Node %s fits the minimum of package.json: %s', (version, ok) => {
  expect(engines.node).toBe('>=20.20');
  expect(checkNode(version).ok).toBe(ok);
});

test.each([
  ['1.29.1', true],
  ['1.32.0', true],
  ['2.0.0', true],
  ['1.29.0', false],
  ['1.28.9', false],
  ['0.30.0', false],
  ['', true],
  ['main-8f3a', true],
])('Temporal server %j fits: %s', (version, ok) => {
  expect(checkVersion('127.0.0.1:7233', version).ok).toBe(ok);
});

test('a queue has live pollers only if one polled in the last two minutes', () => {
  const now = Date.parse('2026-11-20T10:00:00.000Z');
  const check = (...ages: number[]) =>
    queueCheck(
      'queue a',
      ages.map((age) => now - age),
      now,
      'start it',
    );
  expect(check(1_000, 200_000)).toMatchObject({ ok: true, detail: '1 poller' });
  expect(check()).toMatchObject({ ok: false, detail: 'no worker polls it', fix: 'start it' });
  expect(check(200_000, 150_000)).toMatchObject({ ok: false, detail: 'the last poll was 150 s ago' });
});

test('a gateway that is not ready is a failure that repeats what it names', async () => {
  let status = 200;
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/readyz' ? status : 404;
    response.end('{"ok":false,"database":"down","temporal":"up"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const gatewayUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const check = async () => (await checkGateway({ gatewayUrl } as LocalClient))[0];
  expect(await check()).toMatchObject({ ok: true });
  status = 503;
  expect(await check()).toMatchObject({
    ok: false,
    detail: expect.stringContaining('503 {"ok":false,"database":"down"') as string,
  });
  await new Promise((resolve) => server.close(resolve));
  expect(await check()).toMatchObject({ ok: false, detail: expect.stringContaining(gatewayUrl) as string });
});
