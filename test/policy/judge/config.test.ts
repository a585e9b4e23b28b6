import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { canonicalJson } from '../../../policy/contracts/canonical-json';
import { logicHash } from '../../../policy/contracts/plan';
import { configOfPlan, JudgeConfig, judgeDefinition, JUDGE_ID } from '../../../policy/judge/config';
import { DEFAULT_POLICIES } from '../../../policy/judge/default-policies';
import { instructions } from '../../../policy/judge/prompt';
import { WireAnswer, wireJsonSchema } from '../../../policy/judge/wire';
import { validatorRegistry } from '../../../policy/rules/registry';

const plain = (settings: unknown): JudgeConfig =>
  JSON.parse(JSON.stringify(JudgeConfig.parse(settings))) as JudgeConfig;
const BASE = plain({ model: 'm', temperature: 0 });

function hash(
  over: { config?: unknown; version?: string; logicRevision?: number; parserVersion?: string } = {},
): string {
  const { version, logicRevision, parser } = judgeDefinition;
  return logicHash({
    id: JUDGE_ID,
    version: over.version ?? version,
    logicRevision: over.logicRevision ?? logicRevision,
    config: (over.config ?? BASE) as object,
    parser: { name: parser?.name ?? '', version: over.parserVersion ?? parser?.version ?? '' },
  });
}

describe('the logic_hash of the judge', () => {
  const settings = (over: object): unknown => plain({ model: 'm', temperature: 0, ...over });
  const computed = (over: object): unknown => ({ ...BASE, computed: { ...BASE.computed, ...over } });
  const reworded = DEFAULT_POLICIES.map((p, i) => (i === 0 ? { ...p, text: `${p.text} ` } : p));
  const renamed = DEFAULT_POLICIES.map((p, i) => (i === 0 ? { ...p, id: 'other_name' } : p));

  it.each<[string, string]>([
    ['model', hash({ config: settings({ model: 'n' }) })],
    ['temperature', hash({ config: settings({ temperature: 0.1 }) })],
    ['temperature left out', hash({ config: settings({ temperature: undefined }) })],
    ['maxTokens', hash({ config: settings({ maxTokens: 4097 }) })],
    ['words of a policy', hash({ config: settings({ policies: reworded }) })],
    ['id of a policy, and so the schema', hash({ config: settings({ policies: renamed }) })],
    ['order of the policies', hash({ config: settings({ policies: [...DEFAULT_POLICIES].reverse() }) })],
    ['byteBudget', hash({ config: settings({ byteBudget: 98_305 }) })],
    ['maxChunks', hash({ config: settings({ maxChunks: 7 }) })],
    ['metadataKeys', hash({ config: settings({ metadataKeys: [] }) })],
    ['agent prose', hash({ config: settings({ includeAgentProse: true }) })],
    ['deadline', hash({ config: settings({ deadlineMs: 59_999 }) })],
    ['acceptedModels', hash({ config: settings({ acceptedModels: ['x'] }) })],
    ['structured output', hash({ config: settings({ structuredOutput: 'off' }) })],
    ['prompt', hash({ config: computed({ promptSha: 'x' }) })],
    ['schema', hash({ config: computed({ schemaSha: 'x' }) })],
    ['renderer', hash({ config: computed({ rendererRevision: 'x' }) })],
    ['redactor', hash({ config: computed({ redactorRevision: 99 }) })],
    ['answer parser', hash({ config: computed({ parserRevision: 99 }) })],
    ['parser of the definition', hash({ parserVersion: 'x' })],
    ['version', hash({ version: 'v2' })],
    ['logicRevision', hash({ logicRevision: judgeDefinition.logicRevision + 1 })],
  ])('changes if only the %s changes [G18]', (_, changed) => {
    expect(changed).not.toBe(hash());
  });

  it('does not depend on the order of the settings', () => {
    const { model, ...rest } = BASE;
    expect(hash({ config: plain({ ...rest, computed: undefined, model }) })).toBe(hash());
  });
});

describe('JudgeConfig', () => {
  it('adds defaults and revisions as plain JSON and is idempotent', () => {
    const once = JudgeConfig.parse({ model: 'm' });
    expect(once).toMatchObject({
      byteBudget: 98_304,
      maxChunks: 8,
      includeAgentProse: false,
      deadlineMs: 60_000,
      maxTokens: 4096,
    });
    expect(once.policies).toEqual(DEFAULT_POLICIES);
    expect(canonicalJson(JudgeConfig.parse(JSON.parse(JSON.stringify(once))))).toBe(canonicalJson(once));
  });

  it('replaces the revisions that a bundle claims', () => {
    const forged = { ...BASE, computed: { ...BASE.computed, promptSha: 'forged' } };
    expect(JudgeConfig.parse(forged).computed).toEqual(BASE.computed);
    expect(configOfPlan(forged)).toMatchObject({ ok: false });
    expect(configOfPlan(BASE)).toMatchObject({ ok: true });
    expect(configOfPlan(plain({ model: 'm' }))).toMatchObject({ ok: true });
  });

  it.each<[string, object]>([
    ['no model', {}],
    ['an empty rubric', { model: 'm', policies: [] }],
    ['a policy twice', { model: 'm', policies: [DEFAULT_POLICIES[0], DEFAULT_POLICIES[0]] }],
    ['a policy id that is not in snake_case', { model: 'm', policies: [{ id: 'No Such', text: 'x' }] }],
    ['an unknown setting', { model: 'm', temprature: 1 }],
    ['a deadline past the activity', { model: 'm', deadlineMs: 80_000 }],
  ])('rejects %s', (_, settings) => {
    expect(JudgeConfig.safeParse(settings).success).toBe(false);
  });

  it('is registered as an attested validator without a local evaluation, and has a JSON Schema for editors', () => {
    expect(validatorRegistry([judgeDefinition as never]).get('llm_judge')).toMatchObject({
      kind: 'attested',
      evaluate: null,
    });
    expect(z.toJSONSchema(JudgeConfig, { io: 'input' })).toMatchObject({ type: 'object', required: ['model'] });
  });
});

describe('the wire schema', () => {
  it('has no optional, default or fallback member, so that {} is never read as ALLOW', () => {
    const walk = (schema: z.ZodType): void => {
      const { def } = schema as unknown as {
        def: { type: string; shape?: Record<string, z.ZodType>; element?: z.ZodType };
      };
      expect(['object', 'array', 'string', 'int', 'number', 'boolean', 'enum']).toContain(def.type);
      for (const member of Object.values(def.shape ?? {})) walk(member);
      if (def.element !== undefined) walk(def.element);
    };
    walk(WireAnswer);
    expect(WireAnswer.safeParse({}).success).toBe(false);
  });

  it('equals the output of the official helper for the same zod schema, except for limits and policy names', () => {
    const ours = structural(wireJsonSchema(['a', 'b']));
    const theirs = structural((zodResponseFormat(WireAnswer, 'x').json_schema as { schema: unknown }).schema);
    expect(ours).toEqual(theirs);
  });

  it('requires the evidence before the verdict', () => {
    const members = Object.keys((wireJsonSchema(['a'])['properties'] ?? {}) as object);
    expect(members.indexOf('verdict')).toBeGreaterThan(members.indexOf('policyResults'));
    expect(members).toEqual(Object.keys(WireAnswer.shape));
  });

  it('lists every policy in the instructions and nothing of a change', () => {
    const text = instructions(DEFAULT_POLICIES);
    for (const policy of DEFAULT_POLICIES) expect(text).toContain(`- ${policy.id}: ${policy.text}`);
  });
});

/** Types, members and required members of a JSON Schema, with the rubric's enums as strings. */
function structural(schema: unknown): unknown {
  const { type, properties, required, additionalProperties, items } = schema as Record<string, unknown>;
  return {
    type,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(Object.entries(properties as object).map(([k, v]) => [k, structural(v)])),
          required,
          additionalProperties,
        }),
    ...(items === undefined ? {} : { items: structural(items) }),
  };
}
