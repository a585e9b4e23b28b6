import { isBreak, isRunUnit } from './characters';
import { decodedBase64 } from './encoded';
import { isPlaceholder } from './placeholders';
import { looksRandom } from './randomness';
import type { SecretSpan } from './secret-span';

/** Maximum number of characters that are read after `://`. */
const MAX_USER = 300;

export interface Credentials extends SecretSpan {
  /** Start of the part after the first colon. */
  readonly password: number;
}

/** User and secret of `scheme://user:secret@host`. Linear time. */
export function addressCredentials(text: string): Credentials[] {
  const found: Credentials[] = [];
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    const colon = colonBefore(text, at + 3);
    if (colon !== null)
      found.push({ kind: 'url_credentials', start: at + 3, end: colon.at, password: colon.colon + 1 });
  }
  return found;
}

function colonBefore(text: string, from: number): { readonly colon: number; readonly at: number } | null {
  let colon = -1;
  let at = -1;
  for (let i = from; i < text.length && i - from < MAX_USER; i++) {
    const letter = text[i] as string;
    // A password may contain "@": the last one before the path ends it.
    if (letter === '@') at = i;
    if (letter === ':' && colon === -1) colon = i;
    if (letter === '/' || letter === '?' || letter === '#' || isBreak(letter)) break;
  }
  return colon === -1 || at - colon <= 1 ? null : { colon, at };
}

/** GitHub reads a token from the user name if this is the password. */
const TOKEN_IS_USER = 'x-oauth-basic';

/** The password of an address. Null if it is a placeholder, shorter than four characters or a local default. */
export function passwordIn(text: string, found: Credentials): SecretSpan | null {
  const { password, end } = found;
  const value = text.slice(password, end);
  const user = { kind: 'url_credentials', start: found.start, end: password - 1 };
  if (value === TOKEN_IS_USER) return looksRandom(text.slice(user.start, user.end)) ? user : null;
  if (value.length < 4 || isPlaceholder(value) || isLocalDefault(text, found)) return null;
  return { kind: 'url_credentials', start: password, end };
}

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]', '0.0.0.0', 'host.docker.internal'];

/** `guest:guest@localhost`, `postgres:postgres@db`: the default credentials of a container image, on a host without a public name. */
function isLocalDefault(text: string, { start, password, end }: Credentials): boolean {
  if (text.slice(start, password - 1) !== text.slice(password, end)) return false;
  let stop = end + 1;
  while (
    stop - end < MAX_USER &&
    stop < text.length &&
    !':/?#,'.includes(text[stop] as string) &&
    !isBreak(text[stop] as string)
  )
    stop++;
  const host = text.slice(end + 1, stop);
  return LOCAL_HOSTS.some((name) => text.startsWith(name, end + 1)) || !host.includes('.');
}

/** After `Basic`, or the value of `auth` in the configuration of Docker. */
const BASIC = /(?:\bbasic[ \t]{1,4}|\bauth\\?"\s{0,4}:\s{0,4}\\?")([A-Za-z0-9+/_-]{8,400})={0,2}/gi;

/** The password of a pair of user and password in base64; null for anything else, such as a key without a password. */
export function basicPassword(run: string): string | null {
  return /^[^\s:]*:(\S+)$/.exec(decodedBase64(run) ?? '')?.[1] ?? null;
}

/** The base64 of `user:password`. */
export function basicCredentials(text: string): SecretSpan[] {
  return [...text.matchAll(BASIC)].flatMap(({ 0: found, 1: run = '', index }) => {
    const password = basicPassword(run);
    if (password === null || password.length < 4 || isPlaceholder(password)) return [];
    const end = index + found.length;
    return [{ kind: 'basic_credentials', start: index + found.lastIndexOf(run), end }];
  });
}

interface Webhook {
  readonly kind: string;
  readonly host: string;
  /** Minimum number of following letters, digits, `/`, `_`, `-` and `@`. */
  readonly min: number;
}

/** URLs that are secrets: anyone who has one can post messages. */
const WEBHOOKS: readonly Webhook[] = [
  { kind: 'slack_webhook', host: 'hooks.slack.com/services/', min: 40 },
  { kind: 'slack_webhook', host: 'hooks.slack.com/workflows/', min: 40 },
  { kind: 'slack_webhook', host: 'hooks.slack.com/triggers/', min: 40 },
  { kind: 'teams_webhook', host: '.webhook.office.com/webhookb2/', min: 100 },
  { kind: 'discord_webhook', host: 'discord.com/api/webhooks/', min: 70 },
  { kind: 'discord_webhook', host: 'discordapp.com/api/webhooks/', min: 70 },
];

const MAX_PATH = 400;

/** With the backslash of an escaped slash in JSON. */
function isPathUnit(code: number): boolean {
  return isRunUnit(code) || code === 0x40 || code === 0x5c;
}

/** The last part of the path is the secret. The parts before it are the names of a team and a channel. */
function lastPart(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? '';
}

export function webhooks(text: string): SecretSpan[] {
  // Every webhook URL contains this word.
  if (!text.includes('hook')) return [];
  return WEBHOOKS.flatMap((hook) => [hook, { ...hook, host: hook.host.replaceAll('/', '\\/') }]).flatMap(
    ({ kind, host, min }) => {
      const spans: SecretSpan[] = [];
      let runEnd = 0;
      for (let at = text.indexOf(host); at !== -1; at = text.indexOf(host, at + host.length)) {
        const start = at + host.length;
        // Continue the previous run if this host is inside the path of the previous one.
        if (runEnd < start) runEnd = start;
        while (runEnd < text.length && runEnd - start < MAX_PATH && isPathUnit(text.charCodeAt(runEnd))) runEnd++;
        const end = Math.min(runEnd, start + MAX_PATH);
        if (end - start >= min && !isPlaceholder(lastPart(text.slice(start, end)))) spans.push({ kind, start, end });
      }
      return spans;
    },
  );
}
