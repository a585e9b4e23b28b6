import { PACKS } from '../../../source-tools';
import { runExample } from './support/run-example';

const cases = PACKS.flatMap(({ name, rules }) =>
  rules.map((rule) => [rule.definition.implementation, name, rule] as const),
);

describe.each(cases)('%s', (name, pack, rule) => {
  it('fires on its bad example, with valid evidence [G24]', async () => {
    const result = await runExample(rule, 'bad');
    expect(result.errorClass).toBeUndefined();
    expect(result.status).toBe(rule.severity);
    expect(result.evidenceRefs.length).toBeGreaterThan(0);
  });

  it('does not fire on its good example', async () => {
    expect(await runExample(rule, 'good')).toMatchObject({ status: 'ALLOW' });
  });

  it('documents its purpose, what happens if its input is missing, and its page', () => {
    const { definition, missing } = rule;
    expect(definition.why).toMatch(/\.$/);
    expect(missing).toMatch(/\.$/);
    expect(definition).toMatchObject({ pack, docs: `docs/rules/${pack}.md#${name}` });
  });
});

it('every rule of every pack is registered, under a unique name', () => {
  const names = cases.map(([name]) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(130);
});
