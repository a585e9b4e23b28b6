import { askedFor } from '../../policy/bundle/asked';
import { planEvaluator, type Evaluation } from '../../policy/bundle/evaluate';
import { coverageOf, parsePolicyTests, policyTestProblems } from '../../policy/bundle/policy-test';
import { compileAll, issuesText } from '../../workers/compile';
import { ConfigError, type Env } from '../../workers/config';
import { extensionsOfEnv, toEvalInput } from './bundles';

export interface PolicyTestReport {
  readonly results: readonly { readonly name: string; readonly problems: readonly string[] }[];
  /** Validators that a test makes fire, and those that no test does. */
  readonly covered: readonly string[];
  readonly neverFired: readonly string[];
  /** Waivers that no test uses. */
  readonly unusedWaivers: readonly string[];
  /** What validators threw in a test, with stacks. */
  readonly thrown: readonly { readonly test: string; readonly validatorId: string; readonly stack: string }[];
}

/** Runs the tests of a policy. Throws ConfigError if the bundle or the tests are invalid. */
export async function runPolicyTests(env: Env, bundle: string, testsText: string): Promise<PolicyTestReport> {
  const extensions = await extensionsOfEnv(env);
  const plans = compileAll(bundle, extensions);
  const parsed = parsePolicyTests(testsText);
  if (!parsed.ok) throw new ConfigError(`Invalid policy tests:\n${issuesText(parsed.issues)}`);
  const evaluations: Evaluation[] = [];
  const thrown = [];
  const results = [];
  for (const test of parsed.tests) {
    const plan = plans.find((p) => p.target === test.target && p.sourceTool === test.sourceTool);
    if (plan === undefined) {
      results.push({ name: test.name, problems: [`the bundle has no plan for ${test.target}/${test.sourceTool}`] });
      continue;
    }
    const { requester = null, staging = null, at = null, tenant, metadata, callbacks } = test;
    const input = await toEvalInput(extensions, test.sourceTool, new TextEncoder().encode(test.raw), {
      metadata,
      staging,
      at,
      requester,
      ...(tenant === undefined ? {} : { tenant }),
    });
    const evaluation = planEvaluator(plan.plan, extensions.validators, extensions.sourceTools)(input);
    evaluations.push(evaluation);
    for (const [validatorId, stack] of Object.entries(evaluation.thrown))
      thrown.push({ test: test.name, validatorId, stack });
    const asked = askedFor(plan.plan, evaluation, { staging, requester, callbacks });
    results.push({ name: test.name, problems: policyTestProblems(test, evaluation, asked) });
  }
  const { covered, uncovered, unusedWaivers } = coverageOf(
    plans.map((p) => p.plan),
    evaluations,
  );
  return { results, covered, neverFired: uncovered, unusedWaivers, thrown };
}
