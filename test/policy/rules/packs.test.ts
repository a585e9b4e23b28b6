import { PACKS } from '../../../source-tools';
import { runExample } from './support/run-example';

const cases = PACKS.flatMap(({ name, rules }) =>
  rules.map((rule) => [rule.definition.implementation, name, rule] as const),
);

describe.each(cases)('%s', (name, pack, rule) => {
  it('fires on its bad example, with evidence that a finding may carry [G24]', async () => {
    const result = await runExample(rule, 'bad');
    expect(result.errorClass).toBeUndefined();
    expect(result.status).toBe(rule.severity);
    expect(result.evidenceRefs.length).toBeGreaterThan(0);
  });

  it('passes its good example', async () => {
    expect(await runExample(rule, 'good')).toMatchObject({ status: 'ALLOW' });
  });

  it('says why it is there, what happens without what it reads, and where its page is', () => {
    const { definition, missing } = rule;
    expect(definition.why).toMatch(/\.$/);
    expect(missing).toMatch(/\.$/);
    expect(definition).toMatchObject({ pack, docs: `docs/rules/${pack}.md#${name}` });
  });
});

it('no rule has the name of another, and none of a pack is left out of the registry', () => {
  const names = cases.map(([name]) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(130);
});
