import { entropyOf, isQuote, isSpace } from './characters';
import { sensitiveName } from './names';
import { isPlaceholder } from './placeholders';
import type { SecretSpan } from './secret-span';

const MAX_COMMAND = 2000;
const MAX_LINES = 6;

/** Secrets in the options `-u` and `-H` of `curl` commands. */
export function curlSecrets(text: string): SecretSpan[] {
  const spans: SecretSpan[] = [];
  let done = 0;
  for (let at = text.indexOf('curl'); at !== -1; at = text.indexOf('curl', at + 4)) {
    if (at < done) continue;
    const end = endOfCommand(text, at);
    done = end;
    for (const word of wordsOf(text, at, end)) {
      const option = text.slice(word.start, word.end);
      const next = wordAfter(text, word.end, end, option);
      if (next === null) continue;
      const span = isUser(option) ? userSecret(text, next) : isHeader(option) ? headerSecret(text, next) : null;
      if (span !== null) spans.push(span);
    }
  }
  return spans;
}

function endOfCommand(text: string, at: number): number {
  let end = at;
  for (let lines = 0; lines < MAX_LINES && end < text.length && end - at < MAX_COMMAND; lines++) {
    const feed = text.indexOf('\n', end);
    if (feed === -1) return Math.min(text.length, at + MAX_COMMAND);
    end = feed + 1;
  }
  return Math.min(end, at + MAX_COMMAND, text.length);
}

interface Word {
  readonly start: number;
  readonly end: number;
}

/** Splits into words like a shell. Quotes stay part of the word. */
function* wordsOf(text: string, from: number, to: number): Generator<Word> {
  let i = from;
  while (i < to) {
    while (i < to && isSpace(text[i])) i++;
    const start = i;
    i = endOfWord(text, i, to);
    if (i > start) yield { start, end: i };
  }
}

function endOfWord(text: string, from: number, to: number): number {
  let i = from;
  while (i < to && !isSpace(text[i])) {
    const quote = text[i];
    if (isQuote(quote)) {
      const close = text.indexOf(quote as string, i + 1);
      if (close === -1 || close >= to) return to;
      i = close;
    }
    i++;
  }
  return i;
}

const isUser = (option: string): boolean => option.startsWith('-u') || option.startsWith('--user');
const isHeader = (option: string): boolean => option.startsWith('-H') || option.startsWith('--header');

/** Value of an option: after an equals sign, directly after the letter, or the next word. */
function wordAfter(text: string, from: number, to: number, option: string): Word | null {
  if (!isUser(option) && !isHeader(option)) return null;
  const equals = option.indexOf('=');
  if (option.startsWith('--') && equals !== -1) return { start: from - option.length + equals + 1, end: from };
  const isShort = !option.startsWith('--');
  if (isShort && option.length > 2) return { start: from - option.length + 2, end: from };
  if (!isShort && option !== '--user' && option !== '--header') return null;
  const next = wordsOf(text, from, to).next();
  return next.done === true ? null : next.value;
}

/** `name:password`. Each part, or both together, may be in quotes. */
function userSecret(text: string, word: Word): SecretSpan | null {
  const { start, end } = unquoted(text, word);
  const value = text.slice(start, end);
  const colon = value.indexOf(':');
  if (colon === -1 || (value.startsWith('<') && value.endsWith('>'))) return null;
  const [user, raw] = [value.slice(0, colon), value.slice(colon + 1)];
  const password = raw.replaceAll('"', '').replaceAll("'", '');
  if (password.length < 3 && user.length < 3) return null;
  const secret = password === '' ? user : password;
  if (isPlaceholder(secret) || isDocumentationWord(secret) || entropyOf(secret) < 2) return null;
  return password === ''
    ? { kind: 'curl_user', start, end: start + colon }
    : { kind: 'curl_user', start: start + colon + 1, end };
}

const DOCUMENTATION_WORDS = ['pass', 'password', 'passwd', 'pwd', 'test', 'token', 'changeit', 'changeme', 'secret'];

function isDocumentationWord(secret: string): boolean {
  const lower = secret.toLowerCase();
  return DOCUMENTATION_WORDS.includes(lower) || [...lower].every((letter) => letter === lower[0]);
}

/** The value of a secret header, without its scheme: `Authorization: Bearer x`, `X-Api-Key: x`. */
function headerSecret(text: string, word: Word): SecretSpan | null {
  const { start, end } = unquoted(text, word);
  const header = text.slice(start, end);
  const colon = header.indexOf(':');
  if (colon === -1 || !isSecretHeader(header.slice(0, colon))) return null;
  let from = colon + 1;
  while (header[from] === ' ' || header[from] === '\t') from++;
  const scheme = /^(?:basic|bearer|(?:api-)?token)[ \t]+/i.exec(header.slice(from, from + 20));
  from += scheme?.[0].length ?? 0;
  const value = header.slice(from).trimEnd();
  if (value.length < 8 || value.includes(' ') || isPlaceholder(value) || entropyOf(value) < 2.75) return null;
  return { kind: 'curl_header', start: start + from, end: start + from + value.length };
}

function isSecretHeader(name: string): boolean {
  const plain = name.toLowerCase();
  return plain === 'authorization' || plain === 'cookie' || plain.endsWith('key') || sensitiveName(name) !== null;
}

function unquoted(text: string, { start, end }: Word): Word {
  const quote = text[start];
  const isQuoted = isQuote(quote) && text[end - 1] === quote && text.indexOf(quote as string, start + 1) === end - 1;
  return isQuoted ? { start: start + 1, end: end - 1 } : { start, end };
}
