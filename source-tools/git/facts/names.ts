/**
 * File names as `git apply` reads them, on lines of bytes (latin1).
 *
 * N1 A name in double quotes is unquoted like a C string; octal escapes are bytes of UTF-8.
 * N2 The leading segment (a/ or b/) is stripped. A name with fewer segments is invalid.
 */

/** How many leading segments are stripped: git strips one, or none if the names of the first plain patch have no folder. */
export type Strip = 0 | 1;

/** Where an unquoted name ends: at the first CR, at the first tab or CR, or at a known index. */
type NameEnd = 'cr' | 'tab' | number;

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
};

interface Unquoted {
  readonly name: string;
  /** Index after the closing quote. */
  readonly end: number;
}

/** Reads a C-quoted name that starts at `start`; null if it is not valid. */
function unquote(line: string, start: number): Unquoted | null {
  if (line[start] !== '"') return null;
  let name = '';
  for (let i = start + 1; i < line.length; i++) {
    const c = line[i] as string;
    if (c === '"') return { name, end: i + 1 };
    if (c !== '\\') {
      name += c;
      continue;
    }
    const next = line[++i] ?? '';
    const simple = SIMPLE[next];
    if (simple !== undefined) {
      name += simple;
      continue;
    }
    // Three octal digits, the first at most 3.
    if (next < '0' || next > '3' || !isOctal(line[i + 1]) || !isOctal(line[i + 2])) return null;
    name += String.fromCharCode(Number.parseInt(line.slice(i, i + 3), 8));
    i += 2;
  }
  return null;
}

function isOctal(c: string | undefined): boolean {
  return c !== undefined && c >= '0' && c <= '7';
}

export function isDevNull(text: string): boolean {
  return text.startsWith('/dev/null') && (text.length === 9 || isSpace(text[9]));
}

function isSpace(c: string | undefined): boolean {
  return c === ' ' || c === '\t' || c === '\n' || c === '\r';
}

/** The name at the start of `text`, which follows `---`, `rename from` and similar; null if there is none. */
export function findName(text: string, strip: Strip, end: NameEnd): string | null {
  return quotedName(text, strip) ?? bareName(text, strip, null, end);
}

function quotedName(text: string, strip: Strip): string | null {
  const unquoted = unquote(text, 0);
  if (unquoted === null) return null;
  const { name } = unquoted;
  if (strip === 0) return collapseSlashes(name);
  const slash = name.indexOf('/');
  return slash === -1 ? null : collapseSlashes(name.slice(slash + 1));
}

/** An unquoted name. `other`: the name on the other side, which is preferred if it is a prefix of this one. */
function bareName(text: string, strip: Strip, other: string | null, end: NameEnd): string | null {
  const isKnown = typeof end === 'number';
  let start = strip === 0 ? 0 : -1;
  let i = 0;
  for (; i < (isKnown ? end : text.length); i++) {
    const c = text[i];
    if (!isKnown && (c === '\r' || (c === '\t' && end === 'tab'))) break;
    if (c === '/' && start === -1) start = i + 1;
  }
  if (start === -1 || i === start) return other === null ? null : collapseSlashes(other);
  const name = text.slice(start, i);
  return collapseSlashes(other !== null && other.length < name.length && name.startsWith(other) ? other : name);
}

/** Collapses runs of slashes into one. */
function collapseSlashes(name: string): string {
  let out = '';
  for (const c of name) if (c !== '/' || !out.endsWith('/')) out += c;
  return out;
}

/** The name in a plain `---` or `+++` line, which a timestamp may follow after a tab or spaces. */
export function findPlainName(text: string, strip: Strip, other: string | null): string | null {
  const quoted = quotedName(text, strip);
  if (quoted !== null) return quoted;
  const stamp = timestampLength(text);
  return bareName(text, strip, other, stamp === 0 ? 'tab' : text.length - stamp);
}

const ZONE = / [-+](?:\d{4}|\d{2}:\d{2})$/;
const TIME = / \d{2}:\d{2}:\d{2}(?:\.\d+)?$/;
const DATE = /(?:\d{2})?\d{2}-\d{2}-\d{2}$/;

/** Length of the timestamp at the end of the line, including the blanks before it; 0 if there is none. */
function timestampLength(text: string): number {
  // A timestamp is short, so look only at the end: the cost does not depend on the length of the line.
  const tail = text.slice(-80);
  if (!isDigit(tail.at(-1))) return 0;
  const rest = tail.replace(ZONE, '').replace(TIME, '');
  const date = rest.replace(DATE, '');
  if (date.length === rest.length || date === '') return 0;
  if (date.endsWith('\t')) return tail.length - date.length + 1;
  if (!date.endsWith(' ')) return 0;
  let blanks = date.length;
  while (blanks > 0 && date[blanks - 1] === ' ') blanks--;
  return tail.length - blanks;
}

/** Characters that HFS+ ignores when it compares names. */
export const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/;
const ALL_IGNORED = new RegExp(IGNORED, 'g');

/**
 * A segment of a path without what some file systems ignore: case, trailing spaces and dots, the text after a colon, and the
 * characters of `IGNORED`.
 */
export function foldedName(segment: string): string {
  const name = segment.split(':')[0] ?? '';
  return name
    .replaceAll(ALL_IGNORED, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
}

/** Whether some file system reads a segment of a path as `.git`. */
export function isReadAsGit(segment: string): boolean {
  return /^(?:\.git|git~\d{1,3})$/.test(foldedName(segment));
}

function isDigit(c: string | undefined): boolean {
  return c !== undefined && c >= '0' && c <= '9';
}

const EPOCH = /^(1969-12-31|1970-01-01) (\d{2}):(\d{2}):00(?:\.0+)? ([-+])(\d{2}):?(\d{2})$/;

/** Whether the timestamp after the last tab is the Unix epoch, which `diff -N` writes for a file that does not exist. */
export function isEpoch(text: string): boolean {
  const tab = text.lastIndexOf('\t');
  if (tab === -1) return false;
  const match = EPOCH.exec(text.slice(tab + 1, tab + 80));
  if (match === null) return false;
  const [, day, hour, minute, sign, zoneHour, zoneMinute] = match;
  if (Number(hour) > 29 || Number(minute) > 59) return false;
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === '-' ? -1 : 1);
  return Number(hour) * 60 + Number(minute) - zone === (day === '1969-12-31' ? 24 * 60 : 0);
}

/** The path without its `strip` leading segments; null if it has fewer or is absolute. */
function afterPrefix(text: string, strip: Strip): string | null {
  if (strip === 0) return text.startsWith('/') ? null : text;
  const slash = text.indexOf('/');
  return slash <= 0 ? null : text.slice(slash + 1);
}

/**
 * The name that `diff --git` has on both sides; null if the sides differ, because then other header lines contain the names.
 * Unquoted names are split where both halves are equal. Linear in the length of the line.
 */
export function nameOfHeader(rest: string, strip: Strip): string | null {
  if (rest.startsWith('"')) {
    const first = unquote(rest, 0);
    if (first === null) return null;
    const name = afterPrefix(first.name, strip);
    let at = first.end;
    while (isSpace(rest[at])) at++;
    if (name === null || at >= rest.length) return null;
    const second = rest[at] === '"' ? (unquote(rest, at)?.name ?? null) : rest.slice(at);
    const other = second === null ? null : afterPrefix(second, strip);
    return other === name ? name : null;
  }
  const name = afterPrefix(rest, strip);
  if (name === null) return null;
  const quote = name.indexOf('"');
  if (quote !== -1) {
    const second = unquote(name, quote);
    const other = second === null ? null : afterPrefix(second.name, strip);
    if (other === null || other.length >= quote || !name.startsWith(other) || !isSpace(name[other.length])) return null;
    return other;
  }
  return equalHalves(name, strip);
}

/** `name` is `X<blank>X` or, with one segment stripped, `X<blank>prefix/X`. Like git, tries every blank, shortest X first. */
function equalHalves(name: string, strip: Strip): string | null {
  let slash = -1;
  for (let i = 0; i < name.length; i++) {
    const c = name[i];
    if (c !== ' ' && c !== '\t') continue;
    let from = i + 1;
    if (strip === 1) {
      // The same slash serves all blanks before it, which keeps this linear.
      if (slash <= i) slash = name.indexOf('/', i + 1);
      if (slash === -1 || slash === i + 1) return null;
      from = slash + 1;
    } else if (name[from] === '/') return null;
    // Compare only halves of the same length.
    if (name.length - from === i && name.startsWith(name.slice(0, i), from)) return name.slice(0, i);
  }
  return null;
}
