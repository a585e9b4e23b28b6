import { aggregateDefinition } from '../../../policy/rules/aggregate/aggregate';
import { BUILTIN_VALIDATORS } from '../../../policy/rules/builtin';
import { validatorRegistry } from '../../../policy/rules/registry';
import { contractValidators } from '../../../policy/validators/definitions';
import { planOf, refusals } from './fixtures';

const registry = validatorRegistry([...contractValidators, aggregateDefinition, ...BUILTIN_VALIDATORS] as never);
const entry = (more: string, top: Record<string, string> = {}): Record<string, string> => ({
  validators: `\n  - aggregate: { name: split, ${more} }`,
  ...top,
});

test('an aggregate is a separate attested validator, by default for each tenant, agent, target and source tool', () => {
  const { plan } = planOf(entry('window: 1h, limits: { deletions: 10 }'), 'SQLDryRun', registry);
  expect(plan.validators[0]).toMatchObject({
    id: 'guardian.split',
    kind: 'attested',
    phase: 'preflight',
    needsStaging: false,
    config: { window: '1h', by: ['tenant', 'agent', 'target', 'sourceTool'], limits: { deletions: 10 } },
  });
  const forbidding = planOf(entry('level: forbid, window: 1h, limits: { changes: 3 }'), 'SQLDryRun', registry);
  expect(forbidding.plan.validators[0]).toMatchObject({ id: 'safety.split', class: 'SAFETY' });
});

test('a changed window, key or limit changes logic_hash and plan hash [G18]', () => {
  const settings = [
    'window: 1h, limits: { deletions: 10 }',
    'window: 2h, limits: { deletions: 10 }',
    'window: 1h, limits: { deletions: 11 }',
    'window: 1h, limits: { deletions: 10, rows: 5 }',
    'window: 1h, by: [agent], limits: { deletions: 10 }',
  ];
  const plans = settings.map((more) => planOf(entry(more), 'SQLDryRun', registry));
  expect(new Set(plans.map(({ plan }) => plan.validators[0]?.logic_hash)).size).toBe(settings.length);
  expect(new Set(plans.map(({ planHash }) => planHash)).size).toBe(settings.length);
});

test.each([
  ['window: 30s, limits: { bytes: 1 }', /validators\[0\]\.aggregate\.window: expected at least 1m and at most 7d/],
  ['window: 8d, limits: { bytes: 1 }', /validators\[0\]\.aggregate\.window: expected at least 1m and at most 7d/],
  ['window: soon, limits: { bytes: 1 }', /window: expected a whole number and a unit/],
  ['window: 1h, limits: {}', /limits: expected at least one limit/],
  ['window: 1h, limits: { deletions: 0 }', /limits\.deletions/],
  ['window: 1h, limits: { rows: 1, deletion: 1 }', /limits\.deletion: Unknown key.*deletions/],
  ['window: 1h, limits: { changes: 501 }', /limits\.changes/],
  ['window: 1h, by: [], limits: { bytes: 1 }', /aggregate\.by/],
  ['window: 1h, by: [agent, agent], limits: { bytes: 1 }', /by: expected each value at most once/],
  ['window: 1h, level: shadow, limits: { bytes: 1 }', /aggregate\.level/],
])('refuses %s, at its line', (more, message) => {
  const said = refusals(entry(more), 'SQLDryRun', registry);
  expect(said).toHaveLength(1);
  expect(said[0]).toMatch(message);
  expect(said[0]).toMatch(/^1\d:\d+ /);
});

test('cannot be used as a rule and cannot be waived, because its findings are in signed records', () => {
  expect(
    refusals({ validators: '\n  - rule: aggregate\n    config: { name: split }' }, 'SQLDryRun', registry).join(),
  ).toMatch('"aggregate" cannot be used as a rule');
  const waivers = `\n  - { id: w, validatorId: guardian.split, reason: r, expires: "2027-01-01T00:00:00Z", scope: { targets: [shop] } }`;
  expect(refusals(entry('window: 1h, limits: { bytes: 1 }', { waivers }), 'SQLDryRun', registry).join()).toMatch(
    '"guardian.split" cannot be waived',
  );
});
