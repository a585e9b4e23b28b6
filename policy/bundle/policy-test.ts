import { z } from 'zod';
import { Metadata, Name } from '../contracts/diff';
import { fires } from '../contracts/readings';
import type { Plan } from '../contracts/plan';
import { StagingRecord } from '../contracts/staging-record';
import { BUILTIN_UNIT } from '../rules/builtin';
import type { Evaluation } from './evaluate';
import { fromZod, sortIssues, type Issue } from './issue';
import { readYaml } from './yaml-source';

/** Tests of a policy, as YAML beside it: an input, and what must come of it. */
const PolicyTests = z.strictObject({
  tests: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(200).describe('What must hold, as a sentence.'),
        target: Name,
        sourceTool: Name,
        raw: z.string().describe('The diff.'),
        metadata: Metadata.default({}),
        staging: StagingRecord.optional().describe(
          'What a dry run would have shown. Absent: validators that need it are left out.',
        ),
        at: z.iso.datetime().optional().describe('The time that waivers are held against. Absent: none applies.'),
        expect: z.strictObject({
          outcome: z.enum(['COMMIT', 'CONFIRM', 'FORBID']),
          fires: z.array(z.string()).optional().describe('Exactly these validators fire, in any order.'),
          quiet: z.array(z.string()).optional().describe('These run and do not fire.'),
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
  return { ok: false, issues: sortIssues(fromZod(parsed.error, source.data, source.locate, keys)) };
}

/** What differs from what was expected; empty: passed. */
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
        ? 'it was left out: give "staging"'
        : 'the plan has no such validator';
    problems.push(`expected ${id} to fire: ${why}`);
  }
  const unexpected = expected === undefined ? [] : fired.filter((id) => !expected.includes(id));
  problems.push(...unexpected.map((id) => `${id} fired, and was not expected to`));
  for (const id of quiet) {
    if (fired.includes(id)) problems.push(`${id} fired, and was expected to be quiet`);
    else if (!ran.has(id)) problems.push(`${id} did not run, so nobody knows whether it is quiet`);
  }
  return problems;
}

export interface Coverage {
  readonly covered: readonly string[];
  /** Validators of the bundle that no test ever made fire. */
  readonly uncovered: readonly string[];
}

/** Which of the bundle's own validators the tests made fire. Built-in ones are ours to test. */
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
