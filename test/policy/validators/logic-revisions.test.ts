import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractValidators } from '../../../policy/validators/definitions';
import { closureOf, sourceSha } from '../rules/support/source-digest';

/**
 * Pins the source of the contracts' own validators to their `logicRevision` (T12), as `rules/logic-revisions.test.ts`
 * does for the packs. After a change of logic raise the revision, then `UPDATE_LOGIC=1`; where the answer is the same on
 * every input, delete the pin first.
 */
const PINS = join(__dirname, 'logic-revisions.json');

const FILES: Readonly<Record<string, readonly [file: string, within: string]>> = {
  rule_validator: ['policy/validators/definitions.ts', 'policy/validators'],
  composite: ['policy/validators/definitions.ts', 'policy/validators'],
  always_approve: ['policy/validators/definitions.ts', 'policy/validators'],
  condition: ['policy/rules/condition/condition.ts', 'policy/rules/condition'],
  staged_condition: ['policy/rules/condition/condition.ts', 'policy/rules/condition'],
  conflict_point: ['policy/rules/guardians/conflict-point.ts', 'policy/rules'],
  strong_decision: ['policy/rules/guardians/strong-decision.ts', 'policy/rules'],
  contract: ['policy/rules/guardians/contract.ts', 'policy/rules'],
  evidence_integrity: ['policy/rules/guardians/evidence-integrity.ts', 'policy/rules'],
};

interface Pin {
  readonly logicRevision: number;
  readonly sourceSha: string;
}

const pinned = existsSync(PINS) ? (JSON.parse(readFileSync(PINS, 'utf8')) as Record<string, Pin>) : {};
const current = Object.fromEntries(
  contractValidators.map(({ implementation, logicRevision }): [string, Pin] => {
    const at = FILES[implementation];
    if (at === undefined) throw new Error(`${implementation}: add the file that holds its logic`);
    return [implementation, { logicRevision, sourceSha: sourceSha(closureOf(...at)) }];
  }),
);

test.each(Object.keys(current))('an edit of %s needs another logicRevision [G18, T12]', (name) => {
  const [before, now] = [pinned[name], current[name]];
  if (
    process.env['UPDATE_LOGIC'] === '1' &&
    (before === undefined || before.sourceSha === now?.sourceSha || before.logicRevision < (now?.logicRevision ?? 0))
  ) {
    writeFileSync(PINS, `${JSON.stringify(current, null, 2)}\n`);
    return;
  }
  expect(now).toEqual(before);
});
