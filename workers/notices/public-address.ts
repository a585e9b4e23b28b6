import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/**
 * Addresses that are not globally reachable, from the IANA special-purpose address registries
 * (https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry), and
 * multicast. Of IPv6 only 2000::/3 is assigned to global unicast, so everything else is refused.
 */
const IPV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
];
/** Inside 2000::/3: protocol assignments with Teredo and ORCHID, documentation, 6to4, which contain IPv4 addresses or reach no host. */
const IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const special = new BlockList();
for (const range of IPV4) addRange(special, range, 'ipv4');
for (const range of IPV6) addRange(special, range, 'ipv6');
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

function addRange(list: BlockList, range: string, family: 'ipv4' | 'ipv6'): void {
  const [address = '', bits = ''] = range.split('/');
  list.addSubnet(address, Number(bits), family);
}

/** Whether the address is globally reachable. False for text that is not an address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4');
    case 6:
      return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
    default:
      return false;
  }
}

/** The address of a host that is one, in brackets or without; null for a name. */
export function addressIn(host: string): string | null {
  const literal = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  return isIP(literal) === 0 ? null : literal;
}

/**
 * Resolves a host name or an address literal to one address that may be connected to: every address of the name must be public or
 * in `allowed`. The caller connects to exactly this address, so that a second answer of the name server cannot change it. Throws
 * Error if an address is refused or the name does not resolve.
 */
export async function resolvePublic(host: string, allowed: readonly string[]): Promise<string> {
  const literal = addressIn(host);
  const addresses = literal === null ? await lookup(host, { all: true }) : [{ address: literal }];
  const refused = addresses.find(({ address }) => !allowed.includes(address) && !isPublicAddress(address));
  if (refused !== undefined)
    throw new Error(
      `${host} is at ${refused.address}, which is not a public address. If it is intended, add it to "privateAddresses"`,
    );
  const [first] = addresses;
  if (first === undefined) throw new Error(`${host} has no address`);
  return first.address;
}
