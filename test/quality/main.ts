/**
 * npm run quality                 detection and false alarms of each public corpus that is present and of our labelled sets
 *   --corpora DIR                 the folder of the public corpora (../shared/corpora)
 *   --write                       writes docs/assurance/quality.md, and removes reasons that are no longer needed
 * Exits 1 if a disagreement has no written reason in docs/assurance/quality-kept.json, or a reason is no longer needed.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CORPORA } from '../source-tools/sql/rules/support/corpus';
import { dropStaleReasons, measure, OWN_MEASURES, PUBLIC_MEASURES, readKept, type Measured } from './measures';
import { qualityPage, writePage } from './page';

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: { corpora: { type: 'string' }, write: { type: 'boolean', default: false } },
  });
  const corpora = values.corpora === undefined ? CORPORA : resolve(values.corpora);
  if (values.corpora !== undefined && !existsSync(corpora)) throw new Error(`--corpora: ${corpora} does not exist`);
  const kept = readKept();
  const measured: Measured[] = [];
  const absent: string[] = [];
  for (const one of [...PUBLIC_MEASURES, ...OWN_MEASURES]) {
    const result = await measure(one, kept, corpora);
    if (result === null) absent.push(one.name);
    else measured.push(result);
  }
  if (values.write) writePage(qualityPage(measured, dropStaleReasons(kept, measured), absent));
  print(measured, absent);
  return measured.every(({ unexplained, stale }) => unexplained.length + (values.write ? 0 : stale.length) === 0);
}

function print(measured: readonly Measured[], absent: readonly string[]): void {
  for (const { name, risky, detected, ordinary, falseAlarms, unexplained, stale } of measured) {
    console.log(`${name}: ${detected} of ${risky} detected, ${falseAlarms} of ${ordinary} false alarms`);
    for (const { id, expected, actual, what } of unexplained)
      console.log(
        `  without a reason: ${id} is labelled ${expected}, here ${actual}${what === '' ? '' : ` (${what})`}`,
      );
    for (const id of stale) console.log(`  reason no longer needed: ${id}`);
  }
  for (const name of absent) console.log(`${name}: absent`);
}

main().then(
  (done) => {
    process.exitCode = done ? 0 : 1;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  },
);
