import { ValidatorResult } from '../../../policy/contracts/finding';
import { sha256Hex } from '../../../policy/contracts/hash';
import { declaredView } from '../../../policy/rules/tool-view';
import type { ExampleBytes, PackRule } from '../../../policy/rules/rule-maker';
import { PACKS, SOURCE_TOOLS } from '../../../source-tools';
import { updatedRows } from '../../source-tools/sql/rules/support/run-rule';
import { ruleInput } from '../../support/rule-input';
import { ourTools, plainTool } from '../../support/source-tools';

const exampleBytes = (example: ExampleBytes): Uint8Array =>
  typeof example === 'string'
    ? new TextEncoder().encode(example)
    : new Uint8Array(Buffer.from(example.base64, 'base64'));

/** Runs a rule on its bad or good example, with the settings, metadata and dry run of the example. */
async function runExample({ definition, examples }: PackRule, which: 'bad' | 'good'): Promise<ValidatorResult> {
  const ofGood = which === 'good' ? examples.goodSourceTool : undefined;
  const sourceTool =
    ofGood ??
    examples.sourceTool ??
    (definition.sourceTools === '*' ? SOURCE_TOOLS[0]?.sourceTool : definition.sourceTools[0]) ??
    '';
  const raw = exampleBytes(examples[which]);
  const diff = { sourceTool, raw, diffSha: sha256Hex(raw), metadata: examples.metadata?.[which] ?? {} };
  const facts = await (ourTools.get(sourceTool) ?? plainTool).facts(diff);
  const rows = examples.rows?.[which];
  if (definition.evaluate === null) throw new Error(`${definition.implementation} has no evaluate function`);
  const input = ruleInput({
    sourceTool,
    raw,
    facts,
    config: definition.config.parse(examples.config ?? {}),
    metadata: diff.metadata,
    staging: rows === undefined ? null : updatedRows('public.orders', rows),
  });
  const result = definition.evaluate({ ...input, tool: declaredView(input.tool, definition.reads) });
  return ValidatorResult.parse(result);
}

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
