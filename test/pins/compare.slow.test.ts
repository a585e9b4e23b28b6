import { InputEvaluator, type ComparedInput, type Subject } from './evaluate-input';
import { reportOf } from './compare';
import { generateInputs } from './generate-inputs';
import { differencesBetween, digestOf, resultText } from './results-text';
import { attackSeeds, exampleSeeds } from './seeds';
import { subject } from './subject';

const ids = subject.policies.map(({ id }) => id);
const seeds = [...exampleSeeds(subject.examples), ...attackSeeds()];
const generated = (seed?: number): readonly ComparedInput[] =>
  generateInputs(seeds, ids, 40, seed).filter(({ id }) => id.startsWith('generated/'));

/** The same checkout with one rule that gives another reason. */
const broken: Subject = {
  ...subject,
  definitions: subject.definitions.map((definition) =>
    definition.implementation === 'cross_oversized'
      ? { ...definition, evaluate: () => ({ status: 'ALLOW', reason: 'other' }) }
      : definition,
  ),
};

it('generates the same inputs again, and others from another seed', () => {
  expect(generated()).toEqual(generated());
  expect(generated(2)).not.toEqual(generated());
});

it('generates inputs for every source tool and an unknown one, with and without facts', async () => {
  const inputs = generateInputs(seeds, ids, 200).slice(seeds.length);
  const tools = new Set(inputs.map(({ sourceTool }) => sourceTool));
  expect([...tools].sort()).toEqual(['GitPatch', 'HTTPPatch', 'SQLCAS', 'SQLDryRun', 'TerraformPlan', 'UnknownTool']);
  expect(inputs.some(({ staging }) => staging !== null)).toBe(true);
  expect(inputs.some(({ metadata }) => 'affected_rows' in metadata)).toBe(true);
});

it('gives equal digests for equal sources, and names what differs where one rule differs', async () => {
  const [same, other] = [new InputEvaluator(subject), new InputEvaluator(broken)];
  for (const input of generated().slice(0, 12)) {
    const [first, again, changed] = [
      await same.evaluate(input),
      await new InputEvaluator(subject).evaluate(input),
      await other.evaluate(input),
    ];
    expect(digestOf(again)).toBe(digestOf(first));
    expect(digestOf(changed)).not.toBe(digestOf(first));
    const differences = differencesBetween(first, changed);
    expect(differences.map(({ name }) => name)).toEqual(['cross_oversized']);
    expect(reportOf(input, differences)).toContain('"reason":"other"');
  }
});

it('has settings for every validator that can be evaluated', () => {
  expect(new InputEvaluator(subject).unset()).toEqual([]);
});

it.each([
  [{ a: undefined }, {}],
  [-0, 0],
  [Number.NaN, null],
  [new Map([[1, 2]]), {}],
  [new Uint8Array([1]), [1]],
  [1n, 1],
  [
    [1, 2],
    [2, 1],
  ],
])('distinguishes %p from %p, which JSON writes the same or in another order', (a, b) => {
  expect(resultText(a)).not.toBe(resultText(b));
  expect(resultText({ b: 1, a: 2 })).toBe(resultText({ a: 2, b: 1 }));
});
