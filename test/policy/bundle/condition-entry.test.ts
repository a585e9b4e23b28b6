import { contractValidators } from '../../../policy/validators/definitions';
import { BUILTIN_VALIDATORS } from '../../../policy/rules/builtin';
import { validatorRegistry } from '../../../policy/rules/registry';
import { planOf, refusals } from './fixtures';

const registry = validatorRegistry([...contractValidators, ...BUILTIN_VALIDATORS] as never);
const entry = (more: string): Record<string, string> => ({
  validators: `\n  - condition: {name: large, reason: Large changes are seen by a person., ${more}}`,
});

test('a condition is a separate validator; one that reads the dry run runs after it', () => {
  expect(planOf(entry('when: metadata.affected_rows > 10'), 'SQLDryRun', registry).plan.validators[0]).toMatchObject({
    id: 'guardian.large',
    implementation: 'condition',
    needsStaging: false,
    level: 'confirm',
  });
  expect(
    planOf(entry('when: staging.rows > 10, staged: true, level: forbid'), 'SQLDryRun', registry).plan.validators[0],
  ).toMatchObject({ id: 'safety.large', implementation: 'staged_condition', needsStaging: true, class: 'SAFETY' });
});

test('a changed expression changes logic_hash and plan hash [G18, T34]', () => {
  const [a, b] = ['metadata.affected_rows > 10', 'metadata.affected_rows > 11'].map((when) =>
    planOf(entry(`when: ${when}`), 'SQLDryRun', registry),
  );
  expect(a?.plan.validators[0]?.logic_hash).not.toBe(b?.plan.validators[0]?.logic_hash);
  expect(a?.planHash).not.toBe(b?.planHash);
});

test.each([
  ['when: metadata.affected_rows >', /^15:\d+ validators\[0\]\.condition\.when: not CEL/],
  ['when: staging.rows > 10', /^15:\d+ validators\[0\]\.condition\.when: reads "staging".*staged: true/],
  ['when: metadata.a.matches(metadata.b)', /must be a string literal/],
  ['when: request.user == "x"', /unknown name "request"/],
])('refuses %s, at its place', (more, message) => {
  expect(refusals(entry(more), 'SQLDryRun', registry).join('\n').replace(/^14:/, '15:')).toMatch(message);
});

test.each(['conflict_point', 'strong_decision', 'contract', 'evidence_integrity'])(
  'rule: %s is registered and needs settings [G25, G26]',
  (rule) => {
    const config: Record<string, string> = {
      conflict_point: '{tables: [payments]}',
      strong_decision: '{decisions: [{id: D-1, strength: strong, governs: {tables: [payments]}}]}',
      contract: '{maxRows: 5}',
      evidence_integrity: '{required: {ticket: string}}',
    };
    const { plan } = planOf(
      { validators: `\n  - rule: ${rule}\n    config: ${config[rule] ?? ''}` },
      'SQLDryRun',
      registry,
    );
    expect(plan.validators[0]).toMatchObject({
      id: `guardian.${rule}`,
      class: 'POLICY',
      phase: rule === 'contract' ? 'post' : 'preflight',
    });
    if (rule !== 'contract')
      expect(refusals({ validators: `\n  - rule: ${rule}` }, 'SQLDryRun', registry).join()).toMatch(
        /Missing|expected at least one/,
      );
  },
);
