/**
 * Finds what must not reach the model: tokens with a known beginning, private keys, credentials in addresses, values
 * that are assigned to a name like `password`, and long random-looking tokens. Character scans only, linear in the text:
 * the bytes are hostile. When in doubt it takes more: a placeholder costs the judge little, a leaked key costs a key.
 */

/** Raised whenever another span would be found. Part of `logic_hash`. */
export const REDACTOR_REVISION = 1;

export interface SecretSpan {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** Spans in order of their start, none overlapping. */
export function findSecrets(text: string): SecretSpan[] {
  const spans: SecretSpan[] = [];
  findPrivateKeys(text, spans);
  findAddressCredentials(text, spans);
  findInTokens(text, spans);
  return disjoint(spans);
}

/** Of overlapping spans the union is taken, with the kind of the first. */
function disjoint(spans: SecretSpan[]): SecretSpan[] {
  const sorted = spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const result: SecretSpan[] = [];
  for (const span of sorted) {
    const last = result.at(-1);
    if (last !== undefined && span.start < last.end) {
      if (span.end > last.end) result[result.length - 1] = { ...last, end: span.end };
    } else result.push(span);
  }
  return result;
}

const PEM_BEGIN = '-----BEGIN ';
const PEM_END = '-----END ';
const MAX_PEM = 32 * 1024;

/** From the marker to the end marker; without one, as far as lines look like base64. */
function findPrivateKeys(text: string, spans: SecretSpan[]): void {
  for (let start = text.indexOf(PEM_BEGIN); start !== -1; start = text.indexOf(PEM_BEGIN, start + 1)) {
    const label = text.slice(start, start + 80);
    if (!label.includes('PRIVATE KEY')) continue;
    const body = text.slice(start, start + MAX_PEM);
    const marker = body.indexOf(PEM_END);
    const end = marker === -1 ? endOfBase64(body) : afterDashes(body, marker);
    spans.push({ kind: 'private_key', start, end: start + end });
    start += end - 1;
  }
}

function afterDashes(body: string, marker: number): number {
  const dashes = body.indexOf('-----', marker + PEM_END.length);
  return dashes === -1 ? Math.min(body.length, marker + 80) : dashes + 5;
}

function endOfBase64(body: string): number {
  let i = PEM_BEGIN.length;
  while (i < body.length && (isTokenUnit(body.charCodeAt(i)) || ' \r\n\t+/=:,\\'.includes(body[i] ?? ''))) i++;
  return i;
}

/** `scheme://user:secret@host`: the part between colon and at sign. */
function findAddressCredentials(text: string, spans: SecretSpan[]): void {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    let colon = -1;
    let i = at + 3;
    for (; i < text.length && i - at < 300; i++) {
      const letter = text[i] ?? '';
      if (letter === '@') break;
      if (letter === ':' && colon === -1) colon = i;
      if (letter === '/' || letter === '?' || letter === '#' || isBreak(letter)) {
        colon = -1;
        break;
      }
    }
    if (colon !== -1 && text[i] === '@' && i - colon > 1)
      spans.push({ kind: 'url_credentials', start: at + 3, end: i });
  }
}

function isSpace(letter: string): boolean {
  return letter === ' ' || letter === '\n' || letter === '\r' || letter === '\t';
}

function isBreak(letter: string): boolean {
  return isSpace(letter) || letter === '"' || letter === "'" || letter === '`' || letter === '<' || letter === '>';
}

interface Prefix {
  readonly kind: string;
  readonly prefix: string;
  /** Of the whole token. */
  readonly min: number;
}

const PREFIXES: readonly Prefix[] = [
  { kind: 'aws_key_id', prefix: 'AKIA', min: 16 },
  { kind: 'aws_key_id', prefix: 'ASIA', min: 16 },
  { kind: 'aws_key_id', prefix: 'ABIA', min: 16 },
  { kind: 'aws_key_id', prefix: 'ACCA', min: 16 },
  { kind: 'github', prefix: 'ghp_', min: 20 },
  { kind: 'github', prefix: 'gho_', min: 20 },
  { kind: 'github', prefix: 'ghu_', min: 20 },
  { kind: 'github', prefix: 'ghs_', min: 20 },
  { kind: 'github', prefix: 'ghr_', min: 20 },
  { kind: 'github', prefix: 'github_pat_', min: 30 },
  { kind: 'gitlab', prefix: 'glpat-', min: 20 },
  { kind: 'gitlab', prefix: 'gldt-', min: 20 },
  { kind: 'gitlab', prefix: 'glrt-', min: 20 },
  { kind: 'gitlab', prefix: 'glptt-', min: 20 },
  { kind: 'slack', prefix: 'xoxa-', min: 14 },
  { kind: 'slack', prefix: 'xoxb-', min: 14 },
  { kind: 'slack', prefix: 'xoxc-', min: 14 },
  { kind: 'slack', prefix: 'xoxd-', min: 14 },
  { kind: 'slack', prefix: 'xoxe-', min: 14 },
  { kind: 'slack', prefix: 'xoxe.', min: 14 },
  { kind: 'slack', prefix: 'xoxo-', min: 14 },
  { kind: 'slack', prefix: 'xoxp-', min: 14 },
  { kind: 'slack', prefix: 'xoxr-', min: 14 },
  { kind: 'slack', prefix: 'xoxs-', min: 14 },
  { kind: 'slack', prefix: 'xapp-', min: 14 },
  { kind: 'stripe', prefix: 'sk_live_', min: 18 },
  { kind: 'stripe', prefix: 'sk_test_', min: 18 },
  { kind: 'stripe', prefix: 'rk_live_', min: 18 },
  { kind: 'stripe', prefix: 'rk_test_', min: 18 },
  { kind: 'stripe', prefix: 'whsec_', min: 20 },
  { kind: 'openai', prefix: 'sk-', min: 20 },
  { kind: 'google', prefix: 'AIza', min: 30 },
  { kind: 'google', prefix: 'ya29.', min: 20 },
  { kind: 'google', prefix: 'GOCSPX-', min: 20 },
  { kind: 'npm', prefix: 'npm_', min: 30 },
  { kind: 'pypi', prefix: 'pypi-', min: 30 },
  { kind: 'huggingface', prefix: 'hf_', min: 20 },
  { kind: 'sendgrid', prefix: 'SG.', min: 30 },
  { kind: 'twilio', prefix: 'SK', min: 34 },
  { kind: 'twilio', prefix: 'AC', min: 34 },
  { kind: 'shopify', prefix: 'shpat_', min: 20 },
  { kind: 'shopify', prefix: 'shpca_', min: 20 },
  { kind: 'shopify', prefix: 'shppa_', min: 20 },
  { kind: 'shopify', prefix: 'shpss_', min: 20 },
  { kind: 'digitalocean', prefix: 'dop_v1_', min: 30 },
  { kind: 'digitalocean', prefix: 'doo_v1_', min: 30 },
  { kind: 'digitalocean', prefix: 'dor_v1_', min: 30 },
  { kind: 'vault', prefix: 'hvs.', min: 20 },
  { kind: 'vault', prefix: 'hvb.', min: 20 },
  { kind: 'vault', prefix: 's.', min: 26 },
  { kind: 'databricks', prefix: 'dapi', min: 34 },
  { kind: 'linear', prefix: 'lin_api_', min: 30 },
  { kind: 'notion', prefix: 'ntn_', min: 30 },
  { kind: 'notion', prefix: 'secret_', min: 40 },
  { kind: 'facebook', prefix: 'EAA', min: 60 },
  { kind: 'sourcegraph', prefix: 'sgp_', min: 30 },
  { kind: 'onepassword', prefix: 'ops_', min: 40 },
  { kind: 'octopus', prefix: 'API-', min: 26 },
  { kind: 'intra42', prefix: 's-s4t2', min: 40 },
  { kind: 'age', prefix: 'AGE-SECRET-KEY-', min: 30 },
  { kind: 'atlassian', prefix: 'ATATT3', min: 40 },
  { kind: 'figma', prefix: 'figd_', min: 24 },
  { kind: 'grafana', prefix: 'glsa_', min: 30 },
  { kind: 'grafana', prefix: 'glc_', min: 30 },
  { kind: 'postman', prefix: 'PMAK-', min: 40 },
  { kind: 'pulumi', prefix: 'pul-', min: 40 },
  { kind: 'doppler', prefix: 'dp.pt.', min: 40 },
  { kind: 'planetscale', prefix: 'pscale_', min: 30 },
  { kind: 'tailscale', prefix: 'tskey-', min: 20 },
  { kind: 'telegram', prefix: 'bot', min: 40 },
];

const BY_FIRST: ReadonlyMap<string, readonly Prefix[]> = new Map(
  [...new Set(PREFIXES.map((p) => p.prefix[0] ?? ''))].map((first) => [
    first,
    PREFIXES.filter((p) => p.prefix.startsWith(first)),
  ]),
);

/** Letters, digits, `_` and `-`, with `.` and `~`: what tokens are made of. */
function isTokenUnit(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f ||
    code === 0x2d ||
    code === 0x2e ||
    code === 0x7e
  );
}

/** Each token is looked at once; what a span covers is stepped over, so that no text is read more than a few times. */
function findInTokens(text: string, spans: SecretSpan[]): void {
  const names = sensitivePlaces(text);
  let nextName = names.indexOf(1);
  let i = 0;
  let runEnd = 0;
  while (i < text.length) {
    if (!isTokenUnit(text.charCodeAt(i))) {
      i++;
      continue;
    }
    const start = i;
    while (i < text.length && isTokenUnit(text.charCodeAt(i))) i++;
    const beginsRun = start >= runEnd;
    if (i > runEnd) runEnd = endOfRun(text, i);
    if (nextName !== -1 && nextName < start) nextName = names.indexOf(1, start);
    const mayBeName = nextName !== -1 && nextName < i;
    const span = inspectToken(text, start, i, runEnd, beginsRun, mayBeName);
    if (span === null) continue;
    spans.push(span);
    i = Math.max(i, span.end);
  }
}

/** Parts of words, one of which stands in every name that `isSensitiveName` knows. */
const STEMS = ['pass', 'pwd', 'secret', 'token', 'key', 'credential', 'authorization', 'bearer', 'connection'];

/** 1 where a stem begins. The engine's own search is many times faster than looking at every token. */
function sensitivePlaces(text: string): Uint8Array {
  const places = new Uint8Array(text.length);
  const native = text.toLowerCase();
  // Lower case of some characters is longer; then only ASCII is folded, so that places agree.
  const lower = native.length === text.length ? native : text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase());
  for (const stem of STEMS) {
    for (let at = lower.indexOf(stem); at !== -1; at = lower.indexOf(stem, at + stem.length)) places[at] = 1;
  }
  return places;
}

/** `runEnd`: the end of the base64 text of which the token is a part; `+`, `/` and `=` go on with it. */
function inspectToken(
  text: string,
  start: number,
  end: number,
  runEnd: number,
  beginsRun: boolean,
  mayBeName: boolean,
): SecretSpan | null {
  const known = knownToken(text, start, end);
  if (known !== null) return { kind: known, start, end: runEnd };
  const length = end - start;
  const value =
    length > MAX_NAME
      ? null
      : (otherwiseKnown(text, start, end) ?? (mayBeName ? assignedValue(text, start, end) : null));
  if (value !== null) return value;
  if (!(beginsRun || length >= 16) || runEnd - start < MIN_RANDOM) return null;
  return looksRandom(text, start, Math.min(runEnd, start + 200)) ? { kind: 'random_token', start, end: runEnd } : null;
}

function otherwiseKnown(text: string, start: number, end: number): SecretSpan | null {
  if (text.charCodeAt(start) === 0x2d) {
    const option = text.slice(start, end);
    return option === '-u' || option === '--user' ? userAndPassword(text, end) : null;
  }
  if (text.charCodeAt(end) === 0x7c && FACEBOOK_ID.test(text.slice(start, end))) {
    return { kind: 'facebook', start: end + 1, end: endOfRun(text, end + 1) };
  }
  return null;
}

function assignedValue(text: string, start: number, end: number): SecretSpan | null {
  return isSensitiveName(text.slice(start, end)) ? findAssigned(text, start, end) : null;
}

const FACEBOOK_ID = /^[0-9]{15,16}$/;

/** `curl -u name:password`, quoted or not. */
function userAndPassword(text: string, from: number): SecretSpan | null {
  let i = skipBlank(text, from);
  if (i === from || i >= text.length) return null;
  if (isQuote(text[i])) i++;
  let colon = -1;
  let end = i;
  for (; end < text.length && end - i < 300 && !isSpace(text[end] ?? ''); end++)
    if (text[end] === ':' && colon === -1) colon = end;
  if (colon === -1 || end - colon < 4) return null;
  return { kind: 'credentials', start: colon + 1, end };
}

function knownToken(text: string, start: number, end: number): string | null {
  const length = end - start;
  if (length < 14) return null;
  for (const { kind, prefix, min } of BY_FIRST.get(text[start] ?? '') ?? []) {
    if (length >= min && text.startsWith(prefix, start) && mixed(text, start + prefix.length, end)) return kind;
  }
  if (
    length >= 40 &&
    text.startsWith('eyJ', start) &&
    text.indexOf('.', start) < end &&
    text.indexOf('.', start) !== -1
  )
    return 'jwt';
  return null;
}

/** What follows a known beginning must hold a digit or letters of both cases: `sk-button-primary-large` is a class name. */
function mixed(text: string, start: number, end: number): boolean {
  let upper = false;
  let lower = false;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x30 && code <= 0x39) return true;
    if (code >= 0x41 && code <= 0x5a) upper = true;
    if (code >= 0x61 && code <= 0x7a) lower = true;
  }
  return upper !== lower ? upper : upper && lower;
}

function endOfRun(text: string, from: number): number {
  let i = from;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (!(isTokenUnit(code) || code === 0x2b || code === 0x2f || code === 0x3d)) break;
    i++;
  }
  return i;
}

const MIN_RANDOM = 32;

/** Letters of both cases and digits, few repeats, no dictionary shape: not a hash, not a path, not a snake_case name. */
function looksRandom(text: string, start: number, end: number): boolean {
  const length = end - start;
  const counts = new Uint16Array(128);
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    counts[code] = (counts[code] ?? 0) + 1;
  }
  const upper = sum(counts, 0x41, 0x5a);
  const lower = sum(counts, 0x61, 0x7a);
  const digit = sum(counts, 0x30, 0x39);
  if (upper < 3 || lower < 3 || digit < 3 || length - upper - lower - digit > length / 5) return false;
  let entropy = 0;
  for (const count of counts) if (count > 0) entropy -= (count / length) * Math.log2(count / length);
  return entropy >= 4;
}

function sum(counts: Uint16Array, from: number, to: number): number {
  let total = 0;
  for (let code = from; code <= to; code++) total += counts[code] ?? 0;
  return total;
}

const MAX_NAME = 64;
const SENSITIVE = [
  'password',
  'passwd',
  'passphrase',
  'pwd',
  'secret',
  'token',
  'apikey',
  'accesskey',
  'privatekey',
  'credential',
  'authorization',
  'bearer',
  'signingkey',
  'encryptionkey',
  'clientkey',
  'connectionstring',
];
/** `token_count`, `password_changed_at`: names about a secret, not of one. */
const HARMLESS = [
  'count',
  'length',
  'expires',
  'expiry',
  'changedat',
  'updatedat',
  'createdat',
  'policy',
  'attempts',
  'type',
  'name',
  'hashalgorithm',
  'enabled',
  'required',
  'tokens',
];

function isSensitiveName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll('_', '').replaceAll('-', '').replaceAll('.', '');
  if (!SENSITIVE.some((word) => plain.includes(word))) return false;
  return !HARMLESS.some((word) => plain.endsWith(word) && plain.length > word.length);
}

/** What is assigned to, or follows, a sensitive name: `password = 'x'`, `PASSWORD 'x'`, `"token": "x"`, `Bearer x`. */
function findAssigned(text: string, nameStart: number, nameEnd: number): SecretSpan | null {
  let i = nameEnd;
  if (isQuote(text[i]) && text[i] === text[nameStart - 1]) i++;
  i = skipBlank(text, i);
  let operator = false;
  while (i < text.length && i - nameEnd < 24 && '=:>|,('.includes(text[i] ?? '')) {
    operator = true;
    i = skipBlank(text, i + 1);
  }
  if ((text[i] === 'E' || text[i] === 'e' || text[i] === 'N') && isQuote(text[i + 1])) i++;
  if (isQuote(text[i])) {
    const end = endOfQuoted(text, i + 1, text[i] ?? '');
    return end > i + 1 && !isPlaceholder(text, i + 1, end) ? { kind: 'assigned', start: i + 1, end } : null;
  }
  // Before the scan, so that a row of names with nothing between them costs nothing.
  if ((!operator && i === nameEnd) || isPlaceholder(text, i, i + 24)) return null;
  const end = endOfBare(text, i);
  if (isScheme(text.slice(i, Math.min(end, i + 8)))) {
    const from = skipBlank(text, end);
    if (from === end || isPlaceholder(text, from, from + 24)) return null;
    const to = endOfBare(text, from);
    return to - from >= 4 ? { kind: 'assigned', start: from, end: to } : null;
  }
  if (end - i < (operator ? 6 : 16)) return null;
  return operator || mixed(text, i, Math.min(end, i + 200)) ? { kind: 'assigned', start: i, end } : null;
}

function endOfBare(text: string, start: number): number {
  let end = start;
  while (end < text.length && !isBreak(text[end] ?? '') && !',;)]}'.includes(text[end] ?? '')) end++;
  return end;
}

function isScheme(word: string): boolean {
  const lower = word.toLowerCase();
  return lower === 'bearer' || lower === 'basic' || lower === 'token';
}

function isQuote(letter: string | undefined): boolean {
  return letter === '"' || letter === "'" || letter === '`';
}

function skipBlank(text: string, from: number): number {
  let i = from;
  while (i < text.length && i - from < 8 && (text[i] === ' ' || text[i] === '\t')) i++;
  return i;
}

function endOfQuoted(text: string, start: number, quote: string): number {
  let i = start;
  for (; i < text.length; i++) {
    if (text[i] === '\n') return i;
    if (text[i] === '\\') i++;
    else if (text[i] === quote) return i;
  }
  return Math.min(i, text.length);
}

const NO_VALUES = [
  'null',
  'default',
  'excluded',
  'true',
  'false',
  'none',
  'process.env',
  'os.environ',
  'current_setting',
  'crypt(',
  'gen_random',
  'varchar',
  'text',
  'string',
];

/** A parameter, a variable, a call or a keyword stands for a value that is not here. */
function isPlaceholder(text: string, start: number, end: number): boolean {
  const value = text
    .slice(start, Math.min(end, start + 24))
    .trim()
    .toLowerCase();
  if (value === '' || '$?{<%:'.includes(value[0] ?? '') || value.startsWith('[secret:')) return true;
  return NO_VALUES.some((word) => value.startsWith(word) && !isTokenUnit(value.charCodeAt(word.length)));
}
