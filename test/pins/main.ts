/**
 * npm run pins                          writes the pins if the revision of everything that changed was raised
 * npm run pins -- --base COMMIT         first proves that old and new sources give the same findings
 *   --ignore MEMBERS                    compares the findings of everything without these members, such as reason,message, and
 *                                       writes no pins: for a change of texts with raised revisions
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../support/root';
import { compareSources, type ComparedSources } from './compare';
import { generateInputs } from './generate-inputs';
import { currentPins, readPins, unraised, writePins, type SourcePins } from './pinned-sources';
import { allSeeds } from './seeds';
import { subject } from './subject';

const SUBJECT = 'test/pins/subject.ts';
/** Inputs that are generated besides the corpora. */
const GENERATED = 10_000;

async function main(): Promise<boolean> {
  const text = { type: 'string' as const };
  const { values } = parseArgs({ options: { base: text, ignore: text } });
  const [before, now] = [readPins(), currentPins()];
  const changed = unraised(before, now);
  if (values.base !== undefined) {
    const ignore = values.ignore?.split(',') ?? [];
    const only = ignore.length > 0 ? null : comparedNames(before, now);
    const same = await sameFindings(values.base, { only, ignore });
    if (!same || ignore.length > 0) return same;
  } else if (changed.length > 0) {
    console.error(`Changed under an old revision: ${changed.join(', ')}`);
    console.error('Raise their revisions, or prove with --base COMMIT that the findings are the same.');
    return false;
  }
  writePins(now);
  console.log(`${Object.keys(now).length} pins written; ${changed.length} changed under their old revision`);
  return true;
}

/** Findings of what was raised may differ: then only what changed without a raise is compared, else everything. */
function comparedNames(before: SourcePins, now: SourcePins): readonly string[] | null {
  const raised = Object.keys(now).some(
    (name) => before[name] !== undefined && before[name].revision !== now[name]?.revision,
  );
  return raised ? unraised(before, now) : null;
}

async function sameFindings(
  base: string,
  { only, ignore }: Pick<ComparedSources, 'only' | 'ignore'>,
): Promise<boolean> {
  const began = Date.now();
  const folder = mkdtempSync(join(tmpdir(), 'countersign-pins-'));
  const tree = join(folder, 'base');
  git('worktree', 'add', '--quiet', '--detach', tree, base);
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'), 'dir');
    const ids = subject.policies.map(({ id }) => id);
    const inputs = generateInputs(allSeeds(subject.examples), ids, GENERATED);
    const sources = { baseSubject: join(tree, SUBJECT), subject: join(ROOT, SUBJECT), folder, only, ignore };
    const { different, report } = await compareSources(sources, inputs);
    const compared = only === null ? 'all findings' : `findings of ${only.join(', ')}`;
    const seconds = Math.round((Date.now() - began) / 1000);
    console.log(`${different} of ${inputs.length} inputs differ (${compared}, ${seconds} s)`);
    if (different > 0) console.error(`\nThe first of them:\n\n${report}`);
    return different === 0;
  } finally {
    git('worktree', 'remove', '--force', tree);
    rmSync(folder, { recursive: true, force: true });
  }
}

function git(...args: readonly string[]): void {
  execFileSync('git', args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
}

main().then(
  (done) => {
    process.exitCode = done ? 0 : 1;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
