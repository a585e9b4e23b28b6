import type { Reach } from './http-facts';
import { wordList } from '../../../policy/text/word-list';

/** An address as bytes: 4 or 16. */
type Address = readonly number[];

/** The IP address in the host of a parsed URL; null if it is a name. The URL parser has normalized IPv4 to dotted decimal. */
export function addressOf(host: string): Address | null {
  if (host.includes(':')) return v6(host);
  const parts = host.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return null;
  return parts.map(Number);
}

function v6(host: string): Address | null {
  const halves = host.split('::');
  if (halves.length > 2) return null;
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const head = groups(halves[0] ?? '');
  const tail = halves.length === 2 ? groups(halves[1] ?? '') : [];
  const zeros = halves.length === 2 ? 8 - head.length - tail.length : 0;
  const all = [...head, ...Array.from({ length: Math.max(0, zeros) }, () => 0), ...tail];
  if (all.length !== 8 || all.some((group) => !(group >= 0 && group <= 0xffff))) return null;
  return all.flatMap((group) => [group >> 8, group & 0xff]);
}

type Block = readonly [address: string, bits: number, reach: Reach];

const V4: readonly Block[] = [
  ['169.254.169.254', 32, 'metadata'],
  ['169.254.170.2', 32, 'metadata'],
  ['168.63.129.16', 32, 'metadata'],
  ['100.100.100.200', 32, 'metadata'],
  ['192.0.0.192', 32, 'metadata'],
  ['0.0.0.0', 8, 'loopback'],
  ['127.0.0.0', 8, 'loopback'],
  ['10.0.0.0', 8, 'private'],
  ['172.16.0.0', 12, 'private'],
  ['192.168.0.0', 16, 'private'],
  ['100.64.0.0', 10, 'private'],
  ['169.254.0.0', 16, 'link_local'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'reserved'],
  ['192.88.99.0', 24, 'reserved'],
  ['198.18.0.0', 15, 'reserved'],
  ['198.51.100.0', 24, 'reserved'],
  ['203.0.113.0', 24, 'reserved'],
  ['224.0.0.0', 4, 'reserved'],
  ['240.0.0.0', 4, 'reserved'],
];

const V6: readonly Block[] = [
  ['fd00:ec2::254', 128, 'metadata'],
  ['::', 128, 'loopback'],
  ['::1', 128, 'loopback'],
  ['fe80::', 10, 'link_local'],
  ['fec0::', 10, 'private'],
  ['fc00::', 7, 'private'],
  ['ff00::', 8, 'reserved'],
  ['100::', 64, 'reserved'],
  ['2001:db8::', 32, 'reserved'],
  ['2001::', 23, 'reserved'],
  ['3fff::', 20, 'reserved'],
];
/** All public IPv6 addresses. */
const GLOBAL_UNICAST = addressOf('2000::') as Address;

/** IPv6 ranges that embed an IPv4 address, and the offset of its first byte. */
const EMBEDDED: readonly (readonly [address: string, bits: number, offset: number])[] = [
  ['::ffff:0:0', 96, 12],
  ['::', 96, 12],
  ['64:ff9b::', 96, 12],
  ['64:ff9b:1::', 48, 12],
  ['2002::', 16, 2],
];

function inBlock(address: Address, block: Address, bits: number): boolean {
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) if (address[i] !== block[i]) return false;
  const rest = bits & 7;
  if (rest === 0) return true;
  const mask = (0xff << (8 - rest)) & 0xff;
  return ((address[whole] as number) & mask) === ((block[whole] as number) & mask);
}

function reachOfAddress(address: Address): Reach {
  const table = address.length === 4 ? V4 : V6;
  const block = table.find(([start, bits]) => inBlock(address, addressOf(start) as Address, bits));
  if (block !== undefined) return block[2];
  if (address.length === 4) return 'public';
  const embedded = EMBEDDED.find(([start, bits]) => inBlock(address, addressOf(start) as Address, bits));
  if (embedded !== undefined) return reachOfAddress(address.slice(embedded[2], embedded[2] + 4));
  return inBlock(address, GLOBAL_UNICAST, 3) ? 'public' : 'reserved';
}

const METADATA_NAMES = new Set([
  'metadata.google.internal',
  'metadata.goog',
  'metadata',
  'instance-data',
  'instance-data.ec2.internal',
]);
/** Suffixes of names that are not public, or that resolve to an address that is part of the name. */
const LOCAL_SUFFIXES = wordList(`
  localhost local localdomain internal intranet lan home corp private home.arpa svc cluster.local consul test invalid
  onion nip.io sslip.io xip.io localtest.me lvh.me vcap.me
`);

/** Where the host of a parsed URL is, as far as can be determined without a DNS query. */
export function reachOf(host: string): Reach {
  const address = addressOf(host);
  if (address !== null) return reachOfAddress(address);
  const name = host.toLowerCase();
  if (METADATA_NAMES.has(name)) return 'metadata';
  if (name === 'localhost' || name.endsWith('.localhost')) return 'loopback';
  if (!name.includes('.')) return 'local_name';
  return LOCAL_SUFFIXES.some((end) => name.endsWith(`.${end}`) || name === end) ? 'local_name' : 'public';
}
