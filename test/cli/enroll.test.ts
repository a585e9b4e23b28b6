import { runCommand } from './run-command';

const LINK = 'https://countersign.example/inbox/#enroll=AAAA';
const made = { link: LINK, keyId: 'a'.repeat(64), expiresAt: '2026-03-02T12:00:00.000Z' };
const enrollPerson = jest.fn(async (_env: object, _request: object, _key: string) => made);
const gatewayUrl = jest.fn(() => 'http://127.0.0.1:8077');
const enroll = (...args: string[]) =>
  runCommand(['keys', 'enroll', ...args, '--operator-key', 'op.json'], {
    remote: { keys: { enrollPerson, gatewayUrl } },
  });
const requested = () => enrollPerson.mock.calls.map(([, request]) => request);
beforeEach(() => jest.clearAllMocks());

it('prints the link alone, and says whom to give it to and prints the whole command that revokes it', async () => {
  const { code, out, err } = await enroll(
    ...'Alice --tenant acme,acme --gateway-url https://countersign.example/'.split(' '),
  );
  expect([code, out]).toEqual([0, `${LINK}\n`]);
  expect(err).toContain('give it to alice only');
  const revoke = /: countersign (keys revoke .*)\n$/.exec(err)?.[1] ?? '';
  const revokeKey = jest.fn(async () => false);
  const argv = [...revoke.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
  expect((await runCommand(argv, { remote: { keys: { revokeKey } } })).code).toBe(0);
  expect(revokeKey).toHaveBeenCalledWith({}, made.keyId, 'the link is lost', 'op.json');
  expect(enrollPerson).toHaveBeenCalledWith(
    {},
    { person: 'alice', tenants: ['acme'], publicUrl: 'https://countersign.example', validMs: 86_400_000 },
    'op.json',
  );
});

it('names a gateway on this machine localhost, which browsers accept for passkeys', async () => {
  expect((await enroll('bob', '--tenant', '*', '--expires', '7d', '--json')).out).toBe(
    `${JSON.stringify({ person: 'bob', ...made })}\n`,
  );
  expect(requested()).toEqual([
    { person: 'bob', tenants: ['*'], publicUrl: 'http://localhost:8077', validMs: 604_800_000 },
  ]);
});

it.each([
  ['no tenant', ['alice']],
  ['a tenant with a space', ['alice', '--tenant', 'a b']],
  ['a person with a prefix', ['person:alice', '--tenant', 'acme']],
  ['more than 7 days', ['alice', '--tenant', 'acme', '--expires', '8d']],
  ['another text than a duration', ['alice', '--tenant', 'acme', '--expires', 'soon']],
  ['less than a minute', ['alice', '--tenant', 'acme', '--expires', '30s']],
  ['http on another host', ['alice', '--tenant', 'acme', '--gateway-url', 'http://countersign.example']],
  ['an address', ['alice', '--tenant', 'acme', '--gateway-url', 'https://10.0.0.1']],
  ['another text than a URL', ['alice', '--tenant', 'acme', '--gateway-url', 'countersign']],
])('refuses %s', async (_what, args) => {
  expect((await enroll(...args)).code).toBe(2);
  expect(enrollPerson).not.toHaveBeenCalled();
});
