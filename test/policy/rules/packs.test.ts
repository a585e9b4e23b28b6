import { ValidatorResult } from '../../../policy/contracts/finding';
import type { ValidatorDefinition } from '../../../policy/rules/define';
import { gitDiffPack, gitExamples } from '../../../policy/rules/git';
import { httpExamples, httpPatchPack } from '../../../policy/rules/http';
import type { RuleExamples } from '../../../policy/rules/rule-maker';
import { secretsExamples, secretsPack } from '../../../policy/rules/secrets';
import { terraformExamples, terraformPlanPack } from '../../../policy/rules/terraform';
import { runRule, type PackRun } from './support/run-pack-rule';

const PACKS: readonly (readonly [readonly ValidatorDefinition[], Readonly<Record<string, RuleExamples>>])[] = [
  [gitDiffPack, gitExamples],
  [httpPatchPack, httpExamples],
  [terraformPlanPack, terraformExamples],
  [secretsPack, secretsExamples],
];

const cases = PACKS.flatMap(([pack, examples]) => pack.map((d) => [d.implementation, d, pack, examples] as const));

describe.each(cases)('%s', (name, definition, pack, examples) => {
  const example = examples[name];
  if (example === undefined) throw new Error(`no examples for ${name}`);
  const options: PackRun = {
    ...(example.config === undefined ? {} : { config: example.config }),
    ...(example.sourceTool === undefined ? {} : { sourceTool: example.sourceTool }),
  };

  it('fires on its bad example, with evidence that a finding may carry [G24]', () => {
    const metadata = example.metadata?.bad ?? {};
    const result = runRule(pack, name, example.bad, { ...options, metadata });
    expect(result.status).not.toBe('ALLOW');
    expect(result.errorClass).toBeUndefined();
    expect(ValidatorResult.parse(result)).toEqual(result);
  });

  it('passes its good example', () => {
    expect(runRule(pack, name, example.good, { ...options, metadata: example.metadata?.good ?? {} })).toMatchObject({
      status: 'ALLOW',
    });
  });

  it('says why it is there, and where its page is', () => {
    expect(definition.why).toMatch(/\.$/);
    expect(definition.docs).toBe(`docs/rules/${name}.md`);
  });
});
