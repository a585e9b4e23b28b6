import { isPublicAddress, resolvePublic } from '../../../workers/notices/public-address';
import { post } from '../../../workers/notices/channels/post';

/** Hosts of URLs that lead, or could lead, into a private network. */
const REFUSED = [
  ...['127.0.0.1', '127.1', '127.255.255.254', '2130706433', '0x7f000001', '0177.0.0.1', '0x7f.1', '0', '0.0.0.0'],
  ...['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255', '100.64.0.1'],
  ...['100.127.255.255', '169.254.169.254', '169.254.170.2', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376'],
  ...['192.0.0.8', '192.0.0.170', '192.0.2.1', '198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.9'],
  ...['224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255', '192.88.99.1', '192.31.196.1', '192.175.48.1'],
  ...['[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:10.0.0.1]'],
  ...['[::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::1]', '[fe80::1]', '[fec0::1]', '[fc00::1]', '[fd00:ec2::254]'],
  ...['[ff02::1]', '[ff05::2]', '[100::1]', '[2001::1]', '[2001:db8::1]', '[2001:10::1]', '[2002:7f00:1::]'],
  ...[
    '[2002:a00:1::]',
    '[2620:4f:8000::1]',
    '[3fff::1]',
    '[5f00::1]',
    '[4000::1]',
    'localhost',
    'ip6-localhost.invalid',
  ],
];

test('at least sixty hosts are tried', () => {
  expect(new Set(REFUSED).size).toBeGreaterThanOrEqual(60);
});

test.each(REFUSED)('a request to %s is refused before a connection is made', async (host) => {
  const sent = await post({ url: `https://${host}/hook`, headers: {}, body: '{}', privateAddresses: [] });
  expect(sent).toMatchObject({ ok: false });
  expect((sent as { why: string }).why).toMatch(/not a public address|ENOTFOUND|EAI_AGAIN/);
});

test.each(['1.1.1.1', '8.8.8.8', '93.184.215.14', '172.32.0.1', '192.169.0.1', '2606:4700:4700::1111', '2a00:1450::1'])(
  '%s is a public address',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test('an address is allowed exactly as it is listed, and no other of its network', async () => {
  await expect(resolvePublic('127.0.0.1', ['127.0.0.1'])).resolves.toBe('127.0.0.1');
  await expect(resolvePublic('127.0.0.2', ['127.0.0.1'])).rejects.toThrow('not a public address');
});

test('a name with one public and one private address is refused', async () => {
  await expect(resolvePublic('localhost', ['127.0.0.9'])).rejects.toThrow('not a public address');
});

test('a name that does not exist is refused', async () => {
  await expect(resolvePublic('no-such-host.invalid', [])).rejects.toThrow();
});
