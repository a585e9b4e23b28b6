import type { Hit } from '../../../../policy/rules/hit';
import type { PatchFile, PatchLine } from '../../facts/git-facts';
import { atLine } from '../define-git-rule';
import { withoutEscapes } from './json-escapes';
import { MAX_LINE } from './long-lines';
import { MOVES } from './setting';

type Hunk = PatchFile['hunks'][number];

/** A member of an object, or an item of a list, on one side of a hunk of JSON. */
export interface JsonMember {
  readonly line: PatchLine;
  /** The object or list around it. Its kind is null if the hunk does not show where it begins. */
  readonly parent: Container;
  readonly key: string | null;
  /** The token of a scalar, with its quotes; `{` or `[` of another value. */
  readonly value: string;
  /** Equal for the same key in the same place, and for the same value there, before and after the change. */
  readonly place: string;
  readonly identity: string;
}

interface Container {
  readonly id: number;
  readonly key: string | null;
  readonly kind: '{' | '[' | null;
  /** The key of the container around it. */
  readonly within: string | null;
}

interface HunkMembers {
  readonly before: readonly JsonMember[];
  readonly after: readonly JsonMember[];
  /** A changed line that moves the lines below the hunk into another object or list; null if they stay. */
  readonly moves: PatchLine | null;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|\/\/.*|[{}[\]:]|[^\s{}[\]:,"]+/g;

/** More than the manifests of large workspaces have; deeply nested ones would take long to read. */
const MAX_TOKENS = 20_000;
export const TOO_MANY = `has a hunk with more than ${MAX_TOKENS} names and values, which this rule does not read`;

/** The members that a hunk shows, whatever their lines are, with comparable places on both sides; null if it has too many. */
export function membersIn({ lines }: Hunk): HunkMembers | null {
  const [old, now] = [tokensOf(lines, '+'), tokensOf(lines, '-')];
  if (Math.max(old.length, now.length) > MAX_TOKENS) return null;
  const ids = new Map<string, number>();
  const idOf = (name: string): number => ids.get(name) ?? ids.set(name, ids.size).size - 1;
  const [before, after] = [read(old, idOf), read(now, idOf)];
  const isSame = before.closed === after.closed && before.open.join() === after.open.join();
  const moves = isSame ? null : (lines.find(({ kind }) => kind !== ' ') ?? null);
  return { before: before.members, after: after.members, moves };
}

/** Hits for the members that `describe` returns a text for and that are new, or have another value. */
export function newMemberHits(file: PatchFile, describe: (member: JsonMember) => string | null): Hit[] {
  return file.hunks.flatMap((hunk) => {
    const members = membersIn(hunk);
    if (members === null) return hunk.lines.slice(0, 1).map((line) => atLine(file, line, TOO_MANY));
    const { before, after, moves } = members;
    const known = new Set(before.map(({ identity }) => identity));
    const hits = after.flatMap((member) => {
      const what = known.has(member.identity) ? null : describe(member);
      return what === null ? [] : [atLine(file, member.line, what)];
    });
    return hits.length === 0 && moves !== null ? [atLine(file, moves, MOVES)] : hits;
  });
}

interface Token {
  readonly line: PatchLine;
  readonly text: string;
}

/** Stops after the first line that makes them too many. */
function tokensOf(lines: readonly PatchLine[], leftOut: PatchLine['kind']): readonly Token[] {
  const tokens: Token[] = [];
  for (const line of lines) {
    if (line.kind === leftOut) continue;
    for (const text of withoutEscapes(line.text.slice(0, MAX_LINE)).match(TOKEN) ?? [])
      if (!text.startsWith('//')) tokens.push({ line, text });
    if (tokens.length > MAX_TOKENS) break;
  }
  return tokens;
}

function read(tokens: readonly Token[], idOf: (name: string) => number) {
  const members: JsonMember[] = [];
  const stack: Container[] = [];
  let closed = 0;
  let base: Container = { id: idOf('0'), key: null, kind: null, within: null };
  let key: string | null = null;
  for (const [i, { line, text }] of tokens.entries()) {
    if (text === ':') continue;
    if (text === '}' || text === ']') {
      if (stack.pop() === undefined) base = { ...base, id: idOf(String(++closed)) };
      key = null;
    } else if (text.startsWith('"') && tokens[i + 1]?.text === ':') key = text.slice(1, -1);
    else {
      const parent: Container = stack.at(-1) ?? base;
      const place = JSON.stringify([parent.id, key]);
      members.push({ line, parent, key, value: text, place, identity: `${place} ${text}` });
      if (text === '{' || text === '[')
        stack.push({ id: idOf(`${place}${text}`), key, kind: text, within: parent.key });
      key = null;
    }
  }
  return { members, closed, open: stack.map(({ id }) => id) };
}
