import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/root';
import { DEFINITIONS, PARTS, RULE_FOLDERS, type PinnedPart } from './roots';
import { sourceDigests } from './source-digest';

/** What an implementation did when it was pinned, and the revision under which it did that. */
export interface SourcePin {
  /** The logic revision; for a rule over facts the parser beside it, since both are part of `logic_hash`. */
  readonly revision: string;
  readonly digest: string;
}

export type SourcePins = Readonly<Record<string, SourcePin>>;

const FILE = join(ROOT, 'test/pins/source-pins.json');

export const readPins = (): SourcePins => JSON.parse(readFileSync(FILE, 'utf8')) as SourcePins;

export const writePins = (pins: SourcePins): void => writeFileSync(FILE, `${JSON.stringify(pins, null, 2)}\n`);

/** The pins of the sources as they are now. */
export function currentPins(): SourcePins {
  const statements = RULE_FOLDERS.flatMap(statementsUnder);
  const parts: readonly PinnedPart[] = [
    ...DEFINITIONS.map(({ implementation, logicRevision, parser }) => ({
      name: implementation,
      revision: parser === null ? logicRevision : `${logicRevision} ${parser.name}@${parser.version}`,
      roots: [exportOfRule(implementation, statements)],
    })),
    ...PARTS,
  ];
  const digests = sourceDigests(parts.map(({ roots }) => ({ folder: ROOT, exports: roots })));
  const pins = parts.map(({ name, revision }, i): [string, SourcePin] => [
    name,
    { revision: String(revision), digest: digests[i] ?? '' },
  ]);
  return Object.fromEntries(pins.sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Statement {
  readonly path: string;
  readonly text: string;
}

/** Each top-level statement begins with a letter in the first column. */
const statementsUnder = (folder: string): readonly Statement[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .sort()
    .flatMap((path) =>
      readFileSync(join(ROOT, path), 'utf8')
        .split(/^(?=[a-z])/m)
        .map((text) => ({ path, text })),
    );

/** The exported value whose statement defines the rule: `name: 'x'`, or `make('x', …)` with a file's own function. */
export function exportOfRule(rule: string, statements: readonly Statement[]): readonly [path: string, name: string] {
  const found = [`\\b(?:name|implementation): '${rule}'`, `\\w\\(\\s*'${rule}'`].map((pattern) =>
    statements.filter(({ text }) => new RegExp(pattern).test(text)),
  );
  const [one, ...more] = found.find((some) => some.length > 0) ?? [];
  if (one === undefined || more.length > 0)
    throw new Error(
      `expected one top-level declaration that defines '${rule}', got ${one === undefined ? 0 : more.length + 1}`,
    );
  // A constant that is not exported by its name is reached through the exports of its file.
  return [one.path, /^export (?:const|function) (\w+)/.exec(one.text)?.[1] ?? '*'];
}

/** Names whose digest changed while their revision was not raised. */
export function unraised(before: SourcePins, now: SourcePins): readonly string[] {
  return Object.entries(now).flatMap(([name, { revision, digest }]) => {
    const old = before[name];
    return old === undefined || old.digest === digest || isRaised(old.revision, revision) ? [] : [name];
  });
}

/** True if the first number went up, or stayed and what comes after it changed. */
function isRaised(before: string, now: string): boolean {
  const [old, current] = [Number.parseInt(before, 10), Number.parseInt(now, 10)];
  if (Number.isNaN(old) || Number.isNaN(current)) return before !== now;
  return current > old || (current === old && before !== now);
}
