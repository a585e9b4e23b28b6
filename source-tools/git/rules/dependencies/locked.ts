import type { PatchLine } from '../../facts/git-facts';
import type { FileView } from '../patch-view';
import { MAX_LOCK_LINE } from './long-lines';

/** A package at a version in a lock file. */
export interface Locked {
  readonly name: string;
  readonly version: string;
  readonly line: PatchLine;
}

/** What a patch changes in a lock file. */
export interface LockChange {
  readonly added: readonly Locked[];
  readonly removed: readonly Locked[];
  /** Packages whose checksum changes or disappears although the version does not. */
  readonly rehashed: readonly Locked[];
  /** Packages whose archive is that of another package. */
  readonly replaced: readonly { readonly name: string; readonly source: string; readonly line: PatchLine }[];
}

/** What one line of a lock file states. Lines of one package follow each other. */
interface Statement {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly hash?: string | undefined;
  /** The package whose archive is installed. */
  readonly source?: string | undefined;
  /** The package that is installed under another name. */
  readonly alias?: string | undefined;
}

/** Patterns take linear time: parts of one that follow each other do not match the same characters. */
type Reader = (text: string) => Statement | null;

/** Members of npm's lock files that are objects and not packages. */
const NPM_MEMBERS =
  /^(?:|packages|dependencies|requires|engines|bin|funding|(?:dev|peer|optional)Dependencies(?:Meta)?)$/;

function statement(text: string, forms: readonly (readonly [RegExp, (match: RegExpExecArray) => Statement])[]) {
  for (const [pattern, read] of forms) {
    const match = pattern.exec(text);
    if (match !== null) return read(match);
  }
  return null;
}

const npm: Reader = (text) =>
  statement(text, [
    [
      /^\s{2,}"([^"]*)": \{/,
      ([, key = '']) => {
        const name = key.slice(key.lastIndexOf('node_modules/') + (key.includes('node_modules/') ? 13 : 0));
        return NPM_MEMBERS.test(name) ? {} : { name };
      },
    ],
    [/^\s*"version": "(?:npm:([^"]+)@)?([^"]+)"/, ([, alias, version]) => ({ alias, version })],
    [/^\s*"name": "([^"]+)"/, ([, alias]) => ({ alias })],
    [/^\s*"integrity": "([^"]+)"/, ([, hash]) => ({ hash })],
    [/^\s*"resolved": "([^"]+)"/, ([, url = '']) => ({ source: archiveOf(url) })],
  ]);

/** `@acme/ui` of `https://host/@acme/ui/-/ui-1.0.0.tgz`. */
function archiveOf(url: string): string | undefined {
  const [path = '', file] = URL.canParse(url) ? new URL(url).pathname.replace(/%2f/i, '/').split('/-/', 2) : [];
  const [scope = '', name] = path.split('/').slice(-2);
  if (file === undefined) return undefined;
  return scope.startsWith('@') ? `${scope}/${name}` : name;
}

const pnpm: Reader = (text) =>
  statement(text, [
    [/^ {2}'?\/?((?:@[^@/']+\/)?[^@'/\s]+)@([^:('"\s]+)(?=[:('"\s])[^:]*:/, ([, name, version]) => ({ name, version })],
    [/\bintegrity: ([\w+/=-]+)/, ([, hash]) => ({ hash })],
  ]);

const yarn: Reader = (text) =>
  statement(text, [
    [/^"?(@?[^@"\s#]+)@(?:npm:(@?[^@"\s,]+)@)?.*:$/, ([, name, alias]) => ({ name, alias })],
    [/^ {2}resolved "?([^"\s]+)/, ([, url = '']) => ({ source: archiveOf(url) })],
    [/^ {2}resolution: "?(@?[^@"\s]+)@/, ([, source]) => ({ source })],
    [/^ {2}version:? "?([^"\s]+)/, ([, version]) => ({ version })],
    [/^ {2}(?:integrity|checksum):? (\S+)/, ([, hash]) => ({ hash })],
  ]);

const BUN = /^\s*"[^"]+": \["(@?[^@"]+)@([^"]+)",(?:.*"(sha\d+-[^"]+)"\])?/;
const bun: Reader = (text) => statement(text, [[BUN, ([, name, version, hash]) => ({ name, version, hash })]]);

const deno: Reader = (text) =>
  statement(text, [
    [/^\s{4,}"(@?[^@"]+)@([^"_]+)(?=["_])[^"]*": \{/, ([, name, version]) => ({ name, version })],
    [/^\s*"integrity": "([^"]+)"/, ([, hash]) => ({ hash })],
  ]);

/** Cargo, Poetry, PDM and uv. Each file of a Python package has its own hash; the name of the file is the key. */
const toml: Reader = (text) =>
  statement(text, [
    [/^name = "([^"]+)"/, ([, name]) => ({ name })],
    [/^version = "([^"]+)"/, ([, version]) => ({ version })],
    [/^checksum = "([^"]+)"/, ([, hash]) => ({ hash })],
    [/\b(?:url|file) = "([^"]+)"[^"]*\bhash = "([^"]+)"/, ([, file, hash]) => ({ hash: `${file} ${hash}` })],
  ]);

const goSum: Reader = (text) =>
  statement(text, [[/^(\S+) (v\S+) (h1:\S+)/, ([, name, version, hash]) => ({ name, version, hash })]]);

const gemfile: Reader = (text) =>
  statement(text, [[/^ {4}([\w.-]+) \(([^)]+)\)$/, ([, name, version]) => ({ name, version })]]);

const composer: Reader = (text) =>
  statement(text, [
    [/^\s*"name": "([^"/]+\/[^"]+)"/, ([, name]) => ({ name })],
    [/^\s*"version": "([^"]+)"/, ([, version]) => ({ version })],
    [/^\s*"shasum": "([^"]+)"/, ([, hash]) => ({ hash })],
  ]);

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ...['package-lock.json', 'npm-shrinkwrap.json', 'pipfile.lock'].map((base) => [base, npm] as const),
  ['pnpm-lock.yaml', pnpm],
  ['yarn.lock', yarn],
  ['bun.lock', bun],
  ['deno.lock', deno],
  ...['cargo.lock', 'poetry.lock', 'pdm.lock', 'uv.lock', 'pylock.toml'].map((base) => [base, toml] as const),
  ...['go.sum', 'go.work.sum'].map((base) => [base, goSum] as const),
  ...['gemfile.lock', 'gems.locked'].map((base) => [base, gemfile] as const),
  ['composer.lock', composer],
]);

interface Side {
  name: string | null;
  version: string | null;
  alias: string | null;
  readonly packages: Map<string, Locked>;
  /** Package and version → checksums by file, or by algorithm if there is one for the whole package. */
  readonly hashes: Map<string, Map<string, string>>;
  /** Packages with a changed line that states the checksum of the whole package. */
  readonly hashed: Map<string, Locked>;
}

/** The packages that the changed lines of a lock file add and remove. Names are read from the lines around them. */
export function lockChange(view: FileView): LockChange {
  const read = READERS.get(view.name.base);
  if (read === undefined) return { added: [], removed: [], rehashed: [], replaced: [] };
  const [old, now] = [newSide(), newSide()];
  const rehashed = new Map<string, Locked>();
  const replaced: { name: string; source: string; line: PatchLine }[] = [];
  for (const hunk of view.file.hunks) {
    for (const side of [old, now]) [side.name, side.version, side.alias] = [null, null, null];
    for (const line of hunk.lines) {
      const stated = line.text.length > MAX_LOCK_LINE ? null : read(line.text.replace(/\r$/, ''));
      if (stated === null) continue;
      if (line.kind !== '+') take(old, stated, line);
      if (line.kind !== '-') take(now, stated, line);
      const { name, alias } = now;
      if (line.kind === '+' && name !== null && stated.source !== undefined && ![name, alias].includes(stated.source))
        replaced.push({ name, source: stated.source, line });
      if (line.kind === '+' && stated.hash !== undefined) noteRehash(old, now, stated.hash, line, rehashed);
    }
  }
  for (const [key, { line, name, version }] of old.hashed)
    if (!now.hashes.has(key) && !old.packages.has(key)) rehashed.set(key, { name, version, line });
  return {
    added: [...now.packages.values()],
    removed: [...old.packages.values()],
    rehashed: [...rehashed.values()],
    replaced,
  };
}

function newSide(): Side {
  return { name: null, version: null, alias: null, packages: new Map(), hashes: new Map(), hashed: new Map() };
}

function take(side: Side, { name, version, hash, alias }: Statement, line: PatchLine): void {
  if (name !== undefined) [side.name, side.version, side.alias] = [name, null, null];
  if (alias !== undefined) side.alias = alias;
  if (version !== undefined) side.version = version;
  if (side.name === null || side.version === null || line.kind === ' ') return;
  const key = `${side.name}@${side.version}`;
  if (version !== undefined) side.packages.set(key, { name: side.name, version: side.version, line });
  if (hash === undefined) return;
  if (!hash.includes(' ')) side.hashed.set(key, { name: side.name, version: side.version, line });
  const known = side.hashes.get(key) ?? new Map<string, string>();
  side.hashes.set(key, known.set(algorithmOf(hash), hash));
}

function noteRehash(old: Side, now: Side, hash: string, line: PatchLine, found: Map<string, Locked>): void {
  if (now.name === null || now.version === null) return;
  const key = `${now.name}@${now.version}`;
  const before = old.hashes.get(key)?.get(algorithmOf(hash));
  if (before !== undefined && before !== hash) found.set(key, { name: now.name, version: now.version, line });
}

/** `sha512` of `sha512-…`, `10c0` of `10c0/…`, or the file of a checksum of one file. */
function algorithmOf(hash: string): string {
  const space = hash.indexOf(' ');
  return space === -1 ? (/^(?:sha\d+(?=[-:])|h1(?=:)|[\da-z]{1,6}(?=\/))/.exec(hash)?.[0] ?? '') : hash.slice(0, space);
}
