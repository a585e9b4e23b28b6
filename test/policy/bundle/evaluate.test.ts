import { utf8ToBytes } from '@noble/hashes/utils.js';
import { extractSqlFacts } from '../../../source-tools/sql/facts/extract-sql-facts';
import { planEvaluator, readEvalLine } from '../../../policy/bundle/evaluate';
import { coverageOf, parsePolicyTests, policyTestProblems } from '../../../policy/bundle/policy-test';
import { demoRule } from '../../support/demo-rule';
import { planOf, registryOf } from './fixtures';
import { stagingRecord } from '../../../dev/staging-record';
import { ourTools } from '../../support/source-tools';

const rules = registryOf(
  demoRule('team_forbid', {
    pack: 'team-rules',
    defaultLevel: 'forbid',
    apply: ({ diff }) => says(diff.metadata['forbid']),
  }) as never,
  demoRule('team_confirm', { pack: 'team-rules', apply: ({ diff }) => says(diff.metadata['confirm']) }) as never,
  demoRule('team_staged', { pack: 'team-rules', reads: ['staging'], apply: () => says(true) }) as never,
  demoRule('team_broken', {
    pack: 'team-rules',
    defaultLevel: 'shadow',
    apply: () => {
      throw new Error('bug');
    },
  }) as never,
);
const says = (on: unknown) =>
  on === true
    ? { fires: true as const, reason: 'because', evidence: ['diff:x#L1:C1-L1:C1'] }
    : { fires: false as const };

const VALIDATORS = '\n  - pack: team-rules\n  - judge: {model: m}';
const RECORD = stagingRecord();

async function evaluate(metadata: object, members: Record<string, string> = {}, staging: typeof RECORD | null = null) {
  const { plan } = planOf({ validators: VALIDATORS, ...members }, 'SQLDryRun', rules);
  const raw = utf8ToBytes('SELECT 1');
  return {
    plan,
    evaluation: planEvaluator(
      plan,
      rules,
      ourTools,
    )({ raw, metadata: metadata as never, facts: await extractSqlFacts(raw), staging: staging as never, at: null }),
  };
}

test.each([
  [{}, 'COMMIT'],
  [{ confirm: true }, 'CONFIRM'],
  [{ forbid: true }, 'FORBID'],
  [{ forbid: true, confirm: true }, 'FORBID'],
])('%j is %s, from what ran; what could not run is listed', async (metadata, outcome) => {
  const { evaluation } = await evaluate(metadata);
  expect(evaluation.outcome).toBe(outcome);
  expect(evaluation.skipped).toEqual([
    'guardian.team_staged',
    'guardian.llm_judge',
    'guardian.metadata_mismatch',
    'guardian.base_unverifiable',
    'guardian.previously_rejected',
    'guardian.circuit_open',
  ]);
  expect(evaluation.findings.map((f) => f.validator_id)).toEqual([
    'safety.team_forbid',
    'guardian.team_confirm',
    'safety.contract_violation',
    'safety.too_many_violations',
  ]);
});

test('has the stack of what a rule threw, which its finding does not have: the message may quote the diff', async () => {
  const { evaluation } = await evaluate({});
  expect(evaluation.shadow.map(({ validator_id, reason }) => [validator_id, reason])).toEqual([
    ['guardian.team_broken', 'The validator threw Error'],
  ]);
  expect(evaluation.thrown).toEqual({
    'guardian.team_broken': expect.stringMatching(/^Error: bug\n +at .*evaluate.test/),
  });
});

test('runs the validators that need the dry run if its record is given', async () => {
  const { evaluation } = await evaluate({}, {}, RECORD);
  expect(evaluation.outcome).toBe('CONFIRM');
  expect(evaluation.skipped).toEqual(['guardian.llm_judge', 'guardian.previously_rejected', 'guardian.circuit_open']);
});

test('a policy with a callback waits for it; one without callback and confirmation forbids [V16]', async () => {
  const policy = (callback: string) => ({
    policies: `\n  - {key: p, name: P, requiresConfirmation: false, match: {validatorIds: [guardian.team_confirm]}${callback}}`,
  });
  expect(
    (await evaluate({ confirm: true }, policy(', callback: {key: in-window, version: v2}'))).evaluation.outcome,
  ).toBe('CONFIRM');
  expect((await evaluate({ confirm: true }, policy(''))).evaluation.outcome).toBe('FORBID');
});

test('a validator that throws gives an ERROR, and a person is asked', async () => {
  const { evaluation } = await evaluate({}, { validators: '\n  - rule: team_broken\n    level: confirm' });
  expect(evaluation.outcome).toBe('CONFIRM');
  expect(evaluation.findings[0]).toMatchObject({ status: 'BLOCK', errorClass: 'ErrValidatorBackend' });
});

test('refuses a plan that this process cannot run before the first diff [G33]', () => {
  const { plan } = planOf({ validators: VALIDATORS }, 'SQLDryRun', rules);
  expect(() =>
    planEvaluator(
      { ...plan, validators: plan.validators.map((v) => ({ ...v, logic_hash: '0'.repeat(64) })) },
      rules,
      ourTools,
    ),
  ).toThrow(/This process cannot run the plan/);
});

describe('readEvalLine', () => {
  test('parses a line with text or base64', () => {
    expect(readEvalLine('{"id":"a","sourceTool":"SQLDryRun","raw":"SELECT 1"}')).toEqual({
      ok: true,
      line: { id: 'a', sourceTool: 'SQLDryRun', raw: 'SELECT 1', metadata: {} },
    });
    expect(readEvalLine('{"id":"a","sourceTool":"SQLDryRun","rawBase64":"eA=="}')).toMatchObject({ ok: true });
  });

  test.each([
    ['no JSON', '{', null],
    ['nothing', '', null],
    ['a list', '[]', null],
    ['no id', '{"sourceTool":"SQLDryRun","raw":""}', null],
    ['both forms of bytes', '{"id":"a","sourceTool":"SQLDryRun","raw":"","rawBase64":""}', 'a'],
    ['no bytes', '{"id":"a","sourceTool":"SQLDryRun"}', 'a'],
    ['an unknown member', '{"id":"a","sourceTool":"SQLDryRun","raw":"","approved":true}', 'a'],
    [
      'a record with too many levels',
      `{"id":"a","sourceTool":"SQLDryRun","raw":"","staging":{"base":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}}`,
      'a',
    ],
    ['a bad record', '{"id":"a","sourceTool":"SQLDryRun","raw":"","staging":{}}', 'a'],
  ])('reports %s with its id if it has one, and does not throw', (_what, line, id) => {
    expect(readEvalLine(line)).toMatchObject({ ok: false, id, error: expect.stringMatching(/./) as string });
  });
});

describe('policy tests', () => {
  const yaml = (more: string) =>
    `tests:\n  - name: large changes are held\n    target: shop\n    sourceTool: SQLDryRun\n    raw: SELECT 1\n    expect: ${more}`;
  const problems = async (expected: string, metadata: object) => {
    const parsed = parsePolicyTests(yaml(expected));
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues));
    return policyTestProblems(parsed.tests[0] as never, (await evaluate(metadata)).evaluation, []);
  };

  test('pass, or list the differences', async () => {
    expect(
      await problems('{outcome: CONFIRM, fires: [guardian.team_confirm], quiet: [safety.team_forbid]}', {
        confirm: true,
      }),
    ).toEqual([]);
    expect(await problems('{outcome: CONFIRM, fires: []}', { forbid: true })).toEqual([
      'expected CONFIRM, got FORBID',
      'safety.team_forbid fired unexpectedly',
    ]);
    expect(
      await problems(
        '{outcome: COMMIT, fires: [guardian.team_confirm, guardian.team_staged, guardian.x], quiet: [guardian.team_staged]}',
        {},
      ),
    ).toEqual([
      'expected guardian.team_confirm to fire: it ran and found nothing',
      'expected guardian.team_staged to fire: it did not run because the test has no "staging"',
      'expected guardian.x to fire: the plan has no such validator',
      'expected guardian.team_staged to be quiet, but it did not run',
    ]);
  });

  test('are parsed as strictly as a bundle, with line and column', () => {
    expect(parsePolicyTests(yaml('{outcom: COMMIT}'))).toMatchObject({
      ok: false,
      issues: [
        { line: 6, message: 'Missing "outcome"' },
        { line: 6, column: 14, message: 'Unknown key "outcom"', fix: 'Did you mean "outcome"? Otherwise remove it.' },
      ],
    });
  });

  test('coverage lists the validators that fired in no test', async () => {
    const { plan, evaluation } = await evaluate({ confirm: true });
    expect(coverageOf([plan], [evaluation])).toEqual({
      covered: ['guardian.team_confirm'],
      uncovered: ['safety.team_forbid', 'guardian.team_staged'],
      unusedWaivers: [],
    });
  });
});
