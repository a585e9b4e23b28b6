import type { HttpUrl } from './http-facts';
import { addressOf, reachOf } from './reach';

const MAX_URL = 8192;
const BACKSLASH = 'a backslash, which some parsers read as a slash';
const USER_NAME = 'a user name before the host';
/** Anomalies because of which two parsers may read different hosts. */
export const DISPUTED_HOST: ReadonlySet<string> = new Set([BACKSLASH, USER_NAME]);

export const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['https', 443],
  ['http', 80],
]);

/**
 * Parses an absolute URL as browsers do (WHATWG), and lists what other parsers could read differently. Percent-decodes once.
 * Null if the text is not a valid URL.
 */
export function readUrl(text: string): HttpUrl | null {
  if (text.length > MAX_URL) return null;
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    // Compare by name, because `instanceof` fails for errors of another realm.
    if ((error as { name?: unknown } | null)?.name === 'TypeError') return null;
    throw error;
  }
  if (url.hostname === '' && (url.protocol === 'http:' || url.protocol === 'https:')) return null;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const path = decodedPath(url.pathname);
  const scheme = url.protocol.slice(0, -1);
  return {
    scheme,
    host,
    port: url.port === '' ? (DEFAULT_PORTS.get(scheme) ?? null) : Number(url.port),
    path: path.text,
    reach: reachOf(host),
    anomalies: [...inAuthority(text, url, host), ...path.anomalies, ...inText(text, url)],
  };
}

function inText(text: string, url: URL): string[] {
  const anomalies: string[] = [];
  if (url.protocol !== 'http:' && url.protocol !== 'https:') anomalies.push('a scheme other than http and https');
  if (hasBlankOrControl(text)) anomalies.push('a space or control character, which some parsers drop');
  if (text.includes('\\')) anomalies.push(BACKSLASH);
  if (url.hash !== '' || text.includes('#')) anomalies.push('a fragment, which is not sent');
  if (comparable(text) !== comparable(url.href))
    anomalies.push('a part that some parsers rewrite, such as a dot segment');
  if (url.search.includes(';')) anomalies.push('a semicolon in the query, which some servers read as "&"');
  if (/\P{ASCII}/u.test(text)) anomalies.push('a character that is not ASCII');
  return anomalies;
}

const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/(?:\[[^\]]*\]|[^/?#\\:]*)(?::[1-9]\d*)?(?=[/?#]|$)/i;
/** Characters that a URL parser may encode. */
const UNSAFE = /[^\w\-.~:/?#[\]@!$&()*+,;=%]/gu;

/** The URL from its path on, with one encoding for each character; the complete URL if its authority has an unusual form. */
function comparable(url: string): string {
  const authority = AUTHORITY.exec(url)?.[0];
  if (authority === undefined) return url;
  const rest = url.slice(authority.length);
  const encoded = rest.replaceAll(UNSAFE, encodeURIComponent).replaceAll("'", '%27');
  return encoded.startsWith('/') ? encoded : `/${encoded}`;
}

const hasBlankOrControl = (text: string): boolean => /[\p{Cc}\u0020\u00a0]/u.test(text);
const hasControl = (text: string): boolean => /\p{Cc}/u.test(text);

/** The text between `//` and the path, as written. */
function rawAuthority(text: string): string {
  const start = text.indexOf('//');
  if (start === -1) return '';
  let end = start + 2;
  while (end < text.length && !'/?#\\'.includes(text[end] as string)) end++;
  return text.slice(start + 2, end);
}

function inAuthority(text: string, url: URL, host: string): string[] {
  const anomalies: string[] = [];
  const authority = rawAuthority(text);
  if (url.username !== '' || url.password !== '' || authority.includes('@')) anomalies.push(USER_NAME);
  const written = authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d{0,5}$/, '')
    .toLowerCase();
  if (written.endsWith('.')) anomalies.push('a trailing dot in the host');
  if (written.includes('%')) anomalies.push('percent-encoding in the host');
  if (host.startsWith('xn--') || host.includes('.xn--')) anomalies.push('a host name that is not ASCII');
  const plain = written.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (addressOf(host) !== null && plain !== host && !samePlainV6(plain, host))
    anomalies.push('an IP address that is not in canonical form');
  return anomalies;
}

/** Accepts IPv6 addresses that differ from the canonical form only in zeros. Dotted forms are not accepted. */
function samePlainV6(written: string, host: string): boolean {
  return host.includes(':') && !written.includes('.') && /^[0-9a-f:]{2,39}$/.test(written);
}

interface DecodedPath {
  readonly text: string;
  readonly anomalies: readonly string[];
}

function decodedPath(pathname: string): DecodedPath {
  const anomalies = new Set<string>();
  const segments: string[] = [];
  for (const raw of pathname.split('/').slice(1)) {
    const lower = raw.toLowerCase();
    if (lower.includes('%2f') || lower.includes('%5c')) anomalies.add('an encoded slash or backslash in the path');
    const segment = decodeOnce(raw);
    if (segment === null) {
      anomalies.add('percent-encoding in the path that is not valid UTF-8');
      segments.push(raw);
      continue;
    }
    if (hasControl(segment)) anomalies.add('an encoded control character in the path');
    if (/%[0-9a-f]{2}/i.test(segment)) anomalies.add('double percent-encoding');
    // Some servers map compatible characters, such as a full-width slash, to plain ones.
    const folded = segment.normalize('NFKC');
    if (folded !== segment && /[/\\]/.test(folded)) anomalies.add('a character that some servers read as a slash');
    const bare = folded.split(';')[0]?.trim();
    if (
      bare === '.' ||
      bare === '..' ||
      segment.includes('/../') ||
      segment.startsWith('../') ||
      segment.endsWith('/..')
    )
      anomalies.add('a dot segment after decoding');
    if (segment.includes(';')) anomalies.add('a path parameter, which some servers drop');
    segments.push(segment);
  }
  if (segments.some((segment, i) => segment === '' && i < segments.length - 1))
    anomalies.add('an empty segment in the path');
  return { text: `/${segments.join('/')}`, anomalies: [...anomalies] };
}

function decodeOnce(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if ((error as { name?: unknown } | null)?.name === 'URIError') return null;
    throw error;
  }
}
