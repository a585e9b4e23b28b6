import { jsonSchema } from '../../policy/bundle/json-schema';
import { starterBundle } from '../../source-tools/starter-bundle';
import type { Plan } from '../../policy/contracts/plan';
import { builtinsOf } from '../../policy/rules/builtin';
import { changeEvaluator } from '../../policy/rules/evaluate';
import { diffOf } from '../policy/validators/fixtures';
import { compiledPlan, ours } from '../support/compiled-plan';
import { ourTools, plainTool } from '../support/source-tools';

function planOf(sourceTool: string, text = starterBundle(sourceTool), target = 'dev'): Plan {
  const tools = {
    get: (name: string) => ourTools.get(name) ?? { ...plainTool, sourceTool: name, mode: 'enforced' as const },
    keys: () => ourTools.keys(),
  };
  return compiledPlan(text, sourceTool, { target, tools }).plan;
}

test.each(['SQLDryRun', 'SQLCAS', 'HTTPPatch', 'GitPatch', 'TerraformPlan', 'Own.Tool', 'constructor'])(
  'the starter for %s compiles unchanged',
  (sourceTool) => {
    expect(planOf(sourceTool).validators.length).toBeGreaterThan(builtinsOf({ waivers: [] }).length);
    expect(planOf(sourceTool)).toMatchObject({ answers: 'signed', autoResolve: 'warnOnly', development: true });
  },
);

test.each(['Own.Tool', 'Another'])('where no rule reads %s, a person sees every diff', (sourceTool) => {
  const [validator] = planOf(sourceTool).validators;
  if (validator === undefined) throw new Error('no validator');
  const definition = ours.validators.get(validator.implementation);
  for (const text of ['{}', ' ', '\n', '\u0000']) {
    const result = changeEvaluator({
      changeId: 'c',
      inputSha: 'a'.repeat(64),
      diff: diffOf(text, {}, sourceTool),
      facts: { ok: false, code: 'none', message: '', span: null },
      tool: plainTool,
      staging: null,
    })(definition as never, validator);
    expect(result).toMatchObject({ status: 'BLOCK', validator_id: 'guardian.ask_always' });
  }
});

test('keeps target, members and development verbatim, including members that YAML reads as other types', () => {
  const text = starterBundle('SQLDryRun', {
    targets: ['prod'],
    members: ['1e3', 'no', 'o.neill+ada@example.org'],
    development: false,
  });
  const plan = planOf('SQLDryRun', text, 'prod');
  expect(plan).toMatchObject({
    development: false,
    target: 'prod',
    groups: { owners: { members: ['1e3', 'no', 'o.neill+ada@example.org'] } },
  });
});

test('the JSON Schema describes every member of a bundle and refuses unknown ones', () => {
  const schema = jsonSchema() as {
    $schema: string;
    properties: Record<string, { description?: string }>;
    additionalProperties: boolean;
    required: string[];
  };
  expect(schema.$schema).toMatch(/2020-12/);
  expect(schema.additionalProperties).toBe(false);
  for (const [key, property] of Object.entries(schema.properties))
    expect([key, property.description]).toEqual([key, expect.stringMatching(/.{10,}/)]);
  expect(schema.required.sort()).toEqual([
    'defaultGroup',
    'domain',
    'groups',
    'model',
    'name',
    'provider',
    'targets',
    'validators',
    'version',
  ]);
});
