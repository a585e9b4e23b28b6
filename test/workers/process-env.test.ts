import { CommitEnv, GatewayEnv, HostAndPort, ReviewEnv } from '../../workers/process-env';

const publicUrl = GatewayEnv.shape.COUNTERSIGN_PUBLIC_URL;

test.each([
  ['https://countersign.example', 'https://countersign.example'],
  ['https://countersign.example:8443/', 'https://countersign.example:8443'],
  ['http://localhost:8077', 'http://localhost:8077'],
])('the public URL %s is the origin %s', (text, origin) => {
  expect(publicUrl.parse(text)).toBe(origin);
});

test.each([
  ['http://countersign.example', 'expected https with a host name'],
  ['https://10.0.0.1', 'expected https with a host name'],
  ['https://countersign.example/inbox', 'expected https with a host name'],
  ['https://countersign.example:70000', 'a port up to 65535'],
])('the public URL %s is refused', (text, message) => {
  expect(publicUrl.safeParse(text).error?.issues).toEqual([
    expect.objectContaining({ message: expect.stringContaining(message) }),
  ]);
});

test.each([
  ['127.0.0.1:8081', { hostname: '127.0.0.1', port: 8081 }],
  ['[::1]:8081', { hostname: '::1', port: 8081 }],
])('the address %s is a host and a port', (text, address) => {
  expect(HostAndPort.parse(text)).toEqual(address);
});

test.each(['8081', '::1:8081', '127.0.0.1:70000'])('the address %s is refused', (text) => {
  expect(HostAndPort.safeParse(text).success).toBe(false);
});

test.each([
  ['the daily replay, which 0 turns off', CommitEnv.shape.COUNTERSIGN_REPLAY_PER_DAY],
  ['the port of the gateway, for which 0 is any port', GatewayEnv.shape.COUNTERSIGN_GATEWAY_PORT],
  ['the port of the metrics', ReviewEnv.shape.COUNTERSIGN_METRICS_PORT],
])('an empty value is not 0, and one that is not a number is refused as such: %s', (_what, schema) => {
  for (const text of ['', ' ', 'many', '1h'])
    expect(schema.safeParse(text).error?.issues.map(({ message }) => message)).toEqual(['expected a number']);
  expect(schema.parse('0')).toBe(0);
});
