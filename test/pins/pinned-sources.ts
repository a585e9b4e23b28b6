import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/root';
import { DEFINITIONS, PARTS, RULE_FOLDERS } from './roots';
import { SourceDigest, type FileReader } from './source-digest';

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
  const digest = new SourceDigest(readSource);
  const files = RULE_FOLDERS.flatMap(sourcesUnder);
  const pins = [
    ...DEFINITIONS.map(({ implementation, logicRevision, parser }): [string, SourcePin] => [
      implementation,
      {
        revision: parser === null ? `${logicRevision}` : `${logicRevision} ${parser.name}@${parser.version}`,
        digest: digest.ofRule(implementation, files),
      },
    ]),
    ...PARTS.map(({ name, revision, roots }): [string, SourcePin] => [
      name,
      { revision: String(revision), digest: digest.ofExports(roots) },
    ]),
  ];
  return Object.fromEntries(pins.sort(([a], [b]) => (a < b ? -1 : 1)));
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

const readSource: FileReader = (path) => {
  const full = join(ROOT, path);
  return statSync(full, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(full, 'utf8') : undefined;
};

function sourcesUnder(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .sort();
}
