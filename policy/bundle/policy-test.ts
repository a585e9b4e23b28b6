import { z } from 'zod';
import { Metadata, Name } from '../contracts/diff';
import { fires } from '../contracts/readings';
import type { Plan } from '../contracts/plan';
import { StagingRecord } from '../contracts/staging-record';
import { BUILTIN_UNIT } from '../rules/builtin';
import type { Evaluation } from './evaluate';
import { fromZod, toIssues, type Issue } from './issue';
import { readYaml } from './yaml-source';

/** Tests of a policy in a YAML file: each has an input and the expected outcome. */
const PolicyTests = z.strictObject({
  tests: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(200).describe('The expected behavior, as a sentence.'),
        target: Name,
        sourceTool: Name,
        raw: z.string().describe('The diff.'),
        metadata: Metadata.default({}),
        staging: StagingRecord.optional().describe(
          'Result of the dry run. Absent: validators that need it do not run.',
        ),
        at: z.iso.datetime().optional().describe('Time for the expiry of waivers. Absent: no waiver applies.'),
        expect: z.strictObject({
          outcome: z.enum(['COMMIT', 'CONFIRM', 'FORBID']),
          fires: z.array(z.string()).optional().describe('Ids of exactly the validators that fire, in any order.'),
          quiet: z.array(z.string()).optional().describe('Ids of validators that run and do not fire.'),
        }),
      }),
    )
    .min(1)
    .max(5000),
});
export type PolicyTest = z.infer<typeof PolicyTests>['tests'][number];

export type ParsedTests =
  | { readonly ok: true; readonly tests: readonly PolicyTest[] }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** Parses a file of policy tests, or returns its issues in text order. Never throws. */
export function parsePolicyTests(yamlText: string): ParsedTests {
  const source = readYaml(yamlText);
  if (!source.ok) return source;
  const parsed = PolicyTests.safeParse(source.data);
  if (parsed.success) return { ok: true, tests: parsed.data.tests };
  const keys = [
    'tests',
    'name',
    'target',
    'sourceTool',
    'raw',
    'metadata',
    'staging',
    'at',
    'expect',
    'outcome',
    'fires',
    'quiet',
  ];
  return { ok: false, issues: toIssues(fromZod(parsed.error, source.data, keys), source.locate) };
}

/** The differences from the expected outcome; empty if the test passed. */
export function policyTestProblems(test: PolicyTest, evaluation: Evaluation): string[] {
  const { outcome, fires: expected, quiet = [] } = test.expect;
  const fired = evaluation.findings.filter(fires).map((finding) => finding.validator_id);
  const ran = new Set(evaluation.findings.map((finding) => finding.validator_id));
  const problems = outcome === evaluation.outcome ? [] : [`expected ${outcome}, got ${evaluation.outcome}`];
  for (const id of expected ?? []) {
    if (fired.includes(id)) continue;
    const why = ran.has(id)
      ? 'it ran and found nothing'
      : evaluation.skipped.includes(id)
        ? 'it did not run because the test has no "staging"'
        : 'the plan has no such validator';
    problems.push(`expected ${id} to fire: ${why}`);
  }
  const unexpected = expected === undefined ? [] : fired.filter((id) => !expected.includes(id));
  problems.push(...unexpected.map((id) => `${id} fired unexpectedly`));
  for (const id of quiet) {
    if (fired.includes(id)) problems.push(`expected ${id} to be quiet, but it fired`);
    else if (!ran.has(id)) problems.push(`expected ${id} to be quiet, but it did not run`);
  }
  return problems;
}

export interface Coverage {
  readonly covered: readonly string[];
  /** Validators of the bundle that fired in no test. */
  readonly uncovered: readonly string[];
}

/** Which validators of the bundle fired in the tests. Ignores built-in and attested validators. */
export function coverageOf(plans: readonly Plan[], evaluations: readonly Evaluation[]): Coverage {
  const own = new Set(
    plans.flatMap((plan) =>
      plan.validators.filter((v) => v.unit !== BUILTIN_UNIT && v.kind === 'derived').map((v) => v.id),
    ),
  );
  const fired = new Set(
    evaluations.flatMap(({ findings }) => findings.filter(fires).map((finding) => finding.validator_id)),
  );
  return { covered: [...own].filter((id) => fired.has(id)), uncovered: [...own].filter((id) => !fired.has(id)) };
}
