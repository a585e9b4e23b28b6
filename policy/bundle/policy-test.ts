import { z } from 'zod';
import { Metadata, Name } from '../contracts/diff';
import { fires } from '../contracts/readings';
import type { Plan } from '../contracts/plan';
import { StagingRecord } from '../contracts/staging-record';
import { BUILTIN_UNIT } from '../rules/builtin';
import { SubjectId } from '../contracts/subject-id';
import type { Asked } from './asked';
import type { Evaluation } from './evaluate';
import { fromZod, toIssues, type Issue } from './issue';
import { keysOf } from './json-schema';
import { readYaml } from './yaml-source';

const ExpectedQuestion = z.strictObject({
  rule: z.string().min(1).describe('Id of the validator that fires.'),
  policy: z.string().min(1).optional().describe('Key of the policy that asks; "implicit" if none matches.'),
  group: Name.optional().describe('The group that is asked.'),
  quorum: z.int().min(1).optional().describe('How many different people must confirm.'),
  mayAnswer: z.array(SubjectId).optional().describe('The people who may answer, in any order.'),
});
type ExpectedQuestion = z.infer<typeof ExpectedQuestion>;

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
        tenant: Name.optional().describe('Tenant of the change, for waivers.'),
        requester: SubjectId.optional().describe(
          'The person who requests the change. Absent: unknown, so four eyes need one more person.',
        ),
        callbacks: z
          .record(Name, z.boolean())
          .default({})
          .describe('Whether each callback passes. One that is absent fails.'),
        expect: z.strictObject({
          outcome: z.enum(['COMMIT', 'CONFIRM', 'FORBID']),
          fires: z.array(z.string()).optional().describe('Ids of exactly the validators that fire, in any order.'),
          asks: z
            .array(ExpectedQuestion)
            .optional()
            .describe('Exactly the questions to people, in any order. Of each only the given members are compared.'),
          quiet: z.array(z.string()).optional().describe('Ids of validators that run and do not fire.'),
        }),
      }),
    )
    .min(1)
    .max(5000),
});
type PolicyTest = z.infer<typeof PolicyTests>['tests'][number];

type ParsedTests =
  | { readonly ok: true; readonly tests: readonly PolicyTest[] }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** Parses a file of policy tests, or returns its issues in text order. Never throws. */
export function parsePolicyTests(yamlText: string): ParsedTests {
  const source = readYaml(yamlText);
  if (!source.ok) return source;
  const parsed = PolicyTests.safeParse(source.data);
  if (parsed.success) return { ok: true, tests: parsed.data.tests };
  return { ok: false, issues: toIssues(fromZod(parsed.error, source.data, keysOf(PolicyTests)), source.locate) };
}

/** The differences from the expected outcome; empty if the test passed. */
export function policyTestProblems(test: PolicyTest, evaluation: Evaluation, asked: readonly Asked[]): string[] {
  const { outcome, fires: expected, quiet = [], asks } = test.expect;
  const fired = evaluation.findings.filter(fires).map((finding) => finding.validator_id);
  const ran = new Set(evaluation.findings.map((finding) => finding.validator_id));
  const problems = outcome === evaluation.outcome ? [] : [`expected ${outcome}, got ${evaluation.outcome}`];
  for (const id of expected ?? []) {
    if (fired.includes(id)) continue;
    const why = ran.has(id)
      ? 'it ran and found nothing'
      : evaluation.unread.includes(id)
        ? 'it could not read the diff, as another finding says'
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
  if (asks !== undefined) problems.push(...questionProblems(asks, asked));
  return problems;
}

/** Each expected question is compared with the first that has its rule and policy. */
function questionProblems(expected: readonly ExpectedQuestion[], asked: readonly Asked[]): string[] {
  const left = [...asked];
  const problems = expected.flatMap((wanted) => {
    const named = `${wanted.rule}${wanted.policy === undefined ? '' : `, policy ${wanted.policy}`}`;
    const i = left.findIndex(
      (each) => each.rule === wanted.rule && (wanted.policy === undefined || each.policy === wanted.policy),
    );
    const [found] = i === -1 ? [] : left.splice(i, 1);
    if (found === undefined) return [`expected a question for ${named}, got none`];
    return [
      ...difference(named, 'group', wanted.group, found.group),
      ...difference(named, 'quorum', wanted.quorum, found.quorum),
      ...difference(named, 'people who may answer', people(wanted.mayAnswer), people(found.mayAnswer)),
    ];
  });
  return [
    ...problems,
    ...left.map(({ rule, policy, group }) => `${rule} asks ${group} unexpectedly, by policy ${policy}`),
  ];
}

function difference(
  named: string,
  what: string,
  wanted: string | number | undefined,
  found: string | number | undefined,
): string[] {
  return wanted === undefined || wanted === found
    ? []
    : [`${named}: expected ${what} ${wanted}, got ${found ?? 'none'}`];
}

function people(names: readonly string[] | undefined): string | undefined {
  return names === undefined ? undefined : [...new Set(names)].sort().join(', ') || 'none';
}

interface Coverage {
  readonly covered: readonly string[];
  /** Validators of the bundle that fired in no test. */
  readonly uncovered: readonly string[];
  /** Waivers of the bundle that let no finding pass in any test. */
  readonly unusedWaivers: readonly string[];
}

/** Which validators of the bundle fired in the tests, and which waivers none used. Ignores built-in and attested validators. */
export function coverageOf(plans: readonly Plan[], evaluations: readonly Evaluation[]): Coverage {
  const own = new Set(
    plans.flatMap((plan) =>
      plan.validators.filter((v) => v.unit !== BUILTIN_UNIT && v.kind === 'derived').map((v) => v.id),
    ),
  );
  const fired = new Set(
    evaluations.flatMap(({ findings }) => findings.filter(fires).map((finding) => finding.validator_id)),
  );
  const used = new Set(evaluations.flatMap(({ waived }) => waived.map(({ waiverId }) => waiverId)));
  const waivers = new Set(plans.flatMap((plan) => plan.waivers.map(({ id }) => id)));
  return {
    covered: [...own].filter((id) => fired.has(id)),
    uncovered: [...own].filter((id) => !fired.has(id)),
    unusedWaivers: [...waivers].filter((id) => !used.has(id)),
  };
}
