/** Addresses from `first` to `last`. */
interface AddressRange {
  readonly bits: 32 | 128;
  readonly first: bigint;
  readonly last: bigint;
}

/** Names that providers use for every address, and the service tag of all customers of a cloud. */
const EVERYONE = /^(?:\*|any|internet|0\.0\.0\.0|::|azurecloud(?:\..*)?)$/i;

/**
 * Whether address ranges cover a large part of the internet together, as 0.0.0.0/1 and 128.0.0.0/1 cover all of it. A range that
 * cannot be read counts as all of it; a name such as VirtualNetwork, or an empty text, as nothing.
 */
export function coverInternet(texts: readonly string[]): boolean {
  const ranges: AddressRange[] = [];
  for (const text of texts.map((item) => item.trim())) {
    if (EVERYONE.test(text)) return true;
    if (/^(?:[a-z][a-z0-9.-]*)?$/i.test(text)) continue;
    const range = rangeOf(text);
    if (range === null) return true;
    ranges.push(range);
  }
  return isLarge(ranges);
}

/** A 32nd of the internet in IPv4, and as much as one large region of it in IPv6. */
const LARGE = { 32: 1n << 27n, 128: 1n << 117n } as const;

/** Whether ranges together have more addresses of the internet than one organization needs. */
export function isLarge(ranges: readonly AddressRange[]): boolean {
  return ([32, 128] as const).some((bits) => {
    const own = ranges.filter((range) => range.bits === bits && !isPrivate(range));
    let [count, next] = [0n, 0n];
    for (const { first, last } of own.toSorted((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))) {
      const from = first > next ? first : next;
      if (last < from) continue;
      count += last - from + 1n;
      next = last + 1n;
    }
    return count >= LARGE[bits];
  });
}

function isPrivate({ bits, first, last }: AddressRange): boolean {
  return PRIVATE.some((range) => range.bits === bits && range.first <= first && last <= range.last);
}

/** More than the longest range of IPv6 has. Reading a long text takes quadratic time. */
const MAX_LENGTH = 64;

/** The range that `10.0.0.0/8`, `fd00::/8` or one address names; null if the text is not a range. */
export function rangeOf(text: string): AddressRange | null {
  if (text.length > MAX_LENGTH) return null;
  const [address = '', prefix, ...more] = text.split('/');
  const start = addressOf(address);
  if (start === null || more.length > 0) return null;
  const length = prefix === undefined ? start.bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (!(length <= start.bits)) return null;
  const host = (1n << BigInt(start.bits - length)) - 1n;
  const first = start.value & ~host;
  // Addresses of IPv4 within IPv6.
  if (start.bits === 128 && length >= 96 && first >> 32n === 0xffffn)
    return { bits: 32, first: first & 0xffffffffn, last: (first & 0xffffffffn) + host };
  return { bits: start.bits, first, last: first + host };
}

function addressOf(text: string): { readonly bits: 32 | 128; readonly value: bigint } | null {
  const value = text.includes(':') ? ipv6Of(text) : ipv4Of(text);
  return value === null ? null : { bits: text.includes(':') ? 128 : 32, value };
}

function ipv4Of(text: string): bigint | null {
  const bytes = text.split('.');
  if (bytes.length !== 4 || !bytes.every((byte) => /^\d{1,3}$/.test(byte) && Number(byte) < 256)) return null;
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

function ipv6Of(text: string): bigint | null {
  const dotted = /(?<=:)[\d.]*\.[\d.]*$/.exec(text)?.[0];
  const low = dotted === undefined ? null : ipv4Of(dotted);
  if (dotted !== undefined && low === null) return null;
  const plain =
    dotted === undefined || low === null
      ? text
      : `${text.slice(0, -dotted.length)}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`;
  const [head = [], tail, ...more] = plain.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const given = head.length + (tail?.length ?? 0);
  if (more.length > 0 || (tail === undefined ? given !== 8 : given > 7)) return null;
  const groups = [...head, ...Array.from({ length: 8 - given }, () => '0'), ...(tail ?? [])];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

/** Ranges that no one reaches from the internet. */
const PRIVATE: readonly AddressRange[] = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  'fc00::/7',
  'fe80::/10',
].flatMap((text) => rangeOf(text) ?? []);
