import type { HttpUrl } from './http-facts';
import { addressOf, reachOf } from './reach';

const MAX_URL = 8192;

/**
 * An absolute http or https address, read as a browser reads it, and told apart from what others could read in it; null where
 * it is no address. Percent-decoding happens once.
 */
export function readUrl(text: string): HttpUrl | null {
  if (text.length > MAX_URL) return null;
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    // By name: the error of another realm is no instance of ours.
    if ((error as { name?: unknown } | null)?.name === 'TypeError') return null;
    throw error;
  }
  if (url.hostname === '' && (url.protocol === 'http:' || url.protocol === 'https:')) return null;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const address = addressOf(host);
  const path = decodedPath(url.pathname);
  return {
    scheme: url.protocol.slice(0, -1),
    host,
    port: url.port === '' ? (url.protocol === 'https:' ? 443 : url.protocol === 'http:' ? 80 : null) : Number(url.port),
    path: path.text,
    queryNames: [...url.searchParams.keys()].slice(0, 1000),
    reach: reachOf(host, address),
    anomalies: [...inAuthority(text, url, host), ...path.anomalies, ...inText(text, url)],
  };
}

function inText(text: string, url: URL): string[] {
  const said: string[] = [];
  if (url.protocol !== 'http:' && url.protocol !== 'https:') said.push('a scheme other than http and https');
  if (hasBlankOrControl(text)) said.push('a blank or control character, which some readers drop');
  if (text.includes('\\')) said.push('a backslash, which some readers take for a slash');
  if (url.hash !== '' || text.includes('#')) said.push('a fragment, which is not sent');
  for (const c of text) {
    if (c > '\x7f') {
      said.push('a character that is not ASCII');
      break;
    }
  }
  return said;
}

function hasBlankOrControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= 0x20 || (code >= 0x7f && code < 0xa1)) return true;
  }
  return false;
}

/** What stands between `//` and the path, as it was written. */
function rawAuthority(text: string): string {
  const start = text.indexOf('//');
  if (start === -1) return '';
  let end = start + 2;
  while (end < text.length && !'/?#\\'.includes(text[end] as string)) end++;
  return text.slice(start + 2, end);
}

function inAuthority(text: string, url: URL, host: string): string[] {
  const said: string[] = [];
  const authority = rawAuthority(text);
  if (url.username !== '' || url.password !== '' || authority.includes('@')) said.push('a user name before the host');
  const written = authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d{0,5}$/, '')
    .toLowerCase();
  if (written.endsWith('.')) said.push('a dot at the end of the host');
  if (written.includes('%')) said.push('percent-encoding in the host');
  if (host.startsWith('xn--') || host.includes('.xn--')) said.push('a host whose name is not ASCII');
  const plain = written.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (addressOf(host) !== null && plain !== host && !samePlainV6(plain, host))
    said.push('an address that is not written in its usual form');
  return said;
}

/** Two spellings of one IPv6 address that differ in zeros alone are both usual, as long as there is no dot in them. */
function samePlainV6(written: string, host: string): boolean {
  return host.includes(':') && !written.includes('.') && /^[0-9a-f:]{2,39}$/.test(written);
}

interface DecodedPath {
  readonly text: string;
  readonly anomalies: readonly string[];
}

function decodedPath(pathname: string): DecodedPath {
  const said = new Set<string>();
  const segments: string[] = [];
  for (const raw of pathname.split('/').slice(1)) {
    const lower = raw.toLowerCase();
    if (lower.includes('%2f') || lower.includes('%5c')) said.add('an encoded slash or backslash in the path');
    if (lower.includes('%00')) said.add('an encoded NUL in the path');
    const segment = decodeOnce(raw);
    if (segment === null) {
      said.add('percent-encoding in the path that is no UTF-8');
      segments.push(raw);
      continue;
    }
    if (/%[0-9a-f]{2}/i.test(segment)) said.add('percent-encoding that is encoded again');
    const bare = segment.split(';')[0];
    if (
      bare === '.' ||
      bare === '..' ||
      segment.includes('/../') ||
      segment.startsWith('../') ||
      segment.endsWith('/..')
    )
      said.add('a dot segment that is left after decoding');
    if (segment.includes(';')) said.add('a path parameter, which some servers drop');
    segments.push(segment);
  }
  if (segments.some((segment, i) => segment === '' && i < segments.length - 1))
    said.add('an empty segment in the path');
  return { text: `/${segments.join('/')}`, anomalies: [...said] };
}

function decodeOnce(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if ((error as { name?: unknown } | null)?.name === 'URIError') return null;
    throw error;
  }
}
