import { compilePlan, type Compiled, type CompileOptions } from '../../policy/bundle/compile-plan';
import { planEvaluator, type EvalInput, type Evaluation } from '../../policy/bundle/evaluate';
import { parseBundle } from '../../policy/bundle/parse-bundle';
import type { ValidatorRegistry } from '../../policy/rules/registry';
import { starterBundle } from '../../source-tools/starter-bundle';
import { extensionsOf } from '../../workers/extensions';

/** The validators and source tools that we ship. */
export const ours = extensionsOf();

interface Options {
  readonly target?: string;
  readonly validators?: ValidatorRegistry;
  readonly tools?: CompileOptions['tools'];
}

/** The plan of a bundle for a source tool. Throws if the bundle does not compile. */
export function compiledPlan(
  text: string,
  sourceTool: string,
  { target = 'dev', validators = ours.validators, tools = ours.sourceTools }: Options = {},
): Extract<Compiled, { ok: true }> {
  const parsed = parseBundle(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues));
  const compiled = compilePlan(parsed.bundle, validators, { target, sourceTool, tools, locate: parsed.locate });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.issues));
  return compiled;
}

/** What the starter bundle of a source tool decides about a diff, like `countersign policy eval`. */
export function starterEvaluator(sourceTool: string): (input: EvalInput) => Evaluation {
  const { plan } = compiledPlan(starterBundle(sourceTool), sourceTool);
  return planEvaluator(plan, ours.validators, ours.sourceTools);
}
