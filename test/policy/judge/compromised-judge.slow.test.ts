import fc from 'fast-check';
import { sqlDryRun } from '../../../source-tools/sql';
import { extractSqlFacts } from '../../../source-tools/sql/facts/extract-sql-facts';
import { sha256Hex } from '../../../policy/contracts/hash';
import type { ErrorClass, ValidatorResult } from '../../../policy/contracts/finding';
import { type Plan, type PlanPolicy, type PlanValidator } from '../../../policy/contracts/plan';
import { decide, type Decided, type DecideInput } from '../../../policy/decide/decide';
import { assembleFindings, type RawOutcome } from '../../../policy/decide/findings';
import { buildViolations, matchPolicies } from '../../../policy/decide/violations';
import { JUDGE_ID } from '../../../policy/judge/config';
import { DEFAULT_POLICIES } from '../../../policy/judge/default-policies';
import { makeDocument } from '../../../policy/judge/document';
import { judgeFailureResult } from '../../../policy/decide/judge-failure';
import { judge } from '../../../policy/judge/judgement';
import { sqlRenderer } from '../../../source-tools/sql/render';
import type { ValidatorDefinition } from '../../../policy/rules/define';
import { changeEvaluator } from '../../../policy/rules/evaluate';
import { sqlPostgresPack } from '../../source-tools/sql/rules/support/packs';
import { judgeValidator, planOf } from '../../activities/judge/judge-world';
import { RUN_ALL } from '../../support/extent';
import { foreignInjections, OWN_INJECTIONS } from './injection-corpus';

const CHANGE = 'c'.repeat(64);
const AT = '2026-11-01T00:00:00.000Z';
const JUDGE = judgeValidator();
const ORDER = { COMMIT: 0, WAIT: 1, ROLLBACK: 2 } as const;

function validatorOf(
  id: string,
  level: PlanValidator['level'],
  implementation: string,
  config: PlanValidator['config'] = {},
): PlanValidator {
  return {
    id,
    version: 'v1',
    class: level === 'confirm' ? 'POLICY' : 'SAFETY',
    level,
    phase: 'preflight',
    kind: 'derived',
    unit: 'rules',
    implementation,
    needsStaging: false,
    config,
    logicRevision: 1,
    logic_hash: 'a'.repeat(64),
  };
}

type Answers = 'none' | 'confirm' | 'reject';

/** The outcome of the review if every violation that the rules raised is answered like this. */
function decisionOf(plan: Plan, outcomes: ReadonlyMap<string, RawOutcome>, answers: Answers): Decided {
  const findings = assembleFindings({ plan, changeId: CHANGE, outcomes });
  const triggered = matchPolicies(plan, findings, null);
  const violations = buildViolations({
    plan,
    planHash: 'e'.repeat(64),
    inputSha: 'b'.repeat(64),
    findings,
    triggered,
    callbackResults: {},
    requester: 'agent',
  });
  const admitted: DecideInput['answers'] =
    answers === 'none'
      ? []
      : violations
          .filter((v) => v.need === 'human' && v.validatorId !== JUDGE_ID)
          .map((v) => ({
            violationId: v.violationId,
            fingerprint: 'f'.repeat(64),
            decision: answers,
            person: 'ada',
            signed: true,
            reason: '',
            issuedAt: '2026-01-01T00:00:00.000Z',
            retracts: null,
            admittedAt: AT,
            digest: 'd'.repeat(64),
          }));
  return decide({
    plan,
    findings,
    violations,
    answers: admitted,
    requester: 'agent',
    reachable: ['ada'],
    disclosedAt: AT,
    at: AT,
  });
}

/** Compares the outcome with the judge to the one without. True if the judge weakened it. */
function loosens(
  rules: readonly PlanValidator[],
  results: ReadonlyMap<string, RawOutcome>,
  said: ValidatorResult,
  policies: readonly PlanPolicy[],
  answers: Answers,
): boolean {
  const plan = { ...planOf(rules, 'SQLDryRun'), policies: [...policies] };
  const without = decisionOf(plan, results, answers);
  const withJudge = decisionOf(
    { ...plan, validators: [...rules, JUDGE] },
    new Map([...results, [JUDGE_ID, { kind: 'result', result: said } as const]]),
    answers,
  );
  return ORDER[withJudge.action] < ORDER[without.action];
}

/** The gate's result for a model that always answers ALLOW. */
function alwaysAllow(diff: string): ValidatorResult {
  const raw = new TextEncoder().encode(diff);
  const made = makeDocument({
    maxBytes: 2 ** 20,
    raw,
    metadata: {},
    renderer: sqlRenderer,
    metadataKeys: [],
    proseKeys: null,
  });
  if (!made.ok) throw new Error(made.reason);
  const { document } = made;
  const rows = DEFAULT_POLICIES.map(({ id }) => ({
    policyId: id,
    result: 'clear' as const,
    severity: 'WARN' as const,
    lines: [],
    quote: '',
    why: '',
  }));
  const answer = {
    observations: [],
    policyResults: rows,
    instructionsInDiff: false,
    canary: 'x',
    verdict: 'ALLOW' as const,
    confidence: 'high' as const,
  };
  const piece = { first: 0, last: document.lines.length - 1, context: [] };
  // No markers: assumes that the attacker evaded our own detector too.
  return judge({
    validatorId: JUDGE_ID,
    validatorVersion: 'v1',
    model: 'm',
    diffSha: sha256Hex(raw),
    document,
    pieces: [{ piece, answer }],
    markers: [],
    bytes: raw.length,
  }).result;
}

const RISKY = [
  'DELETE FROM orders',
  'UPDATE orders SET amount = 0',
  'TRUNCATE orders',
  'DROP TABLE orders',
  'GRANT ALL ON orders TO PUBLIC',
  "DO $$ BEGIN EXECUTE 'DROP TABLE x'; END $$",
  'ALTER TABLE orders DROP COLUMN amount',
  'COMMIT',
];

describe('a compromised judge', () => {
  it('that always answers ALLOW weakens none of at least 2,000 decisions of the real rules on injected diffs', async () => {
    const rules = sqlPostgresPack.flatMap((definition: ValidatorDefinition) => {
      const config = definition.config.safeParse({});
      return config.success && !definition.reads.includes('staging')
        ? [{ definition, config: config.data as PlanValidator['config'] }]
        : [];
    });
    let decisions = 0;
    let fired = 0;
    const looser: unknown[] = [];
    const texts = [...OWN_INJECTIONS, ...foreignInjections().slice(0, 5)];
    for (const [i, text] of texts.entries()) {
      const diff = `-- ${text.replaceAll('\n', '\n-- ')}\n${RISKY[i % RISKY.length] ?? ''};`;
      const raw = new TextEncoder().encode(diff);
      const facts = await extractSqlFacts(raw);
      const said = alwaysAllow(diff);
      for (const { definition, config } of rules) {
        const level = definition.defaultLevel === 'shadow' ? 'confirm' : definition.defaultLevel;
        const validator = validatorOf(
          `${level === 'confirm' ? 'guardian' : 'safety'}.${definition.implementation}`,
          level,
          definition.implementation,
          config,
        );
        const input = {
          changeId: CHANGE,
          inputSha: 'b'.repeat(64),
          diff: { sourceTool: 'SQLDryRun', raw, diffSha: sha256Hex(raw), metadata: {} },
          facts,
          tool: sqlDryRun,
          staging: null,
        };
        const result = changeEvaluator(input)(definition, validator) as ValidatorResult;
        if (result.status !== 'ALLOW') fired++;
        decisions++;
        const outcomes = new Map<string, RawOutcome>([[validator.id, { kind: 'result', result }]]);
        if (loosens([validator], outcomes, said, [], 'none')) looser.push({ diff, rule: validator.id });
      }
    }
    expect(looser).toEqual([]);
    expect(decisions).toBeGreaterThanOrEqual(2000);
    expect(fired).toBeGreaterThan(50);
  });

  const errorClass = fc.option(
    fc.constantFrom<ErrorClass>('ErrValidatorBackend', 'ErrVerdictParse', 'ErrUnknownDiffType', 'ErrTimeout'),
    { nil: undefined },
  );
  const resultFor = (id: string): fc.Arbitrary<ValidatorResult> =>
    fc.oneof(
      fc.constant<ValidatorResult>({ validator_id: id, status: 'ALLOW', reason: '', evidenceRefs: [] }),
      fc.constant<ValidatorResult>({ validator_id: id, status: 'WARN', reason: 'w', evidenceRefs: ['diff:x#L1'] }),
      errorClass.map<ValidatorResult>((error) => ({
        validator_id: id,
        status: 'BLOCK',
        reason: 'b',
        evidenceRefs: ['diff:x#L1'],
        ...(error === undefined ? {} : { errorClass: error }),
      })),
    );
  const judged = fc.oneof(
    resultFor(JUDGE_ID),
    fc
      .constantFrom('ErrValidatorBackend', 'ErrVerdictParse', 'TimeoutFailure', 'anything')
      .map((failureType) => judgeFailureResult({ validatorId: JUDGE_ID, changeId: CHANGE, failureType, message: 'x' })),
  );

  it('cannot weaken an outcome for any findings, policies and human answers', () => {
    const levels = fc.constantFrom<PlanValidator['level']>('forbid', 'confirm', 'advise');
    const ruleSet = fc.array(fc.tuple(levels, resultFor('placeholder')), { minLength: 1, maxLength: 5 });
    const policy = fc.record({
      requiresConfirmation: fc.boolean(),
      fourEyes: fc.boolean(),
      only: fc.option(fc.constantFrom('guardian.r0', 'guardian.r1', JUDGE_ID), { nil: undefined }),
    });
    fc.assert(
      fc.property(
        ruleSet,
        judged,
        fc.array(policy, { maxLength: 3 }),
        fc.constantFrom<Answers>('none', 'confirm', 'reject'),
        (rules, said, drafts, answers) => {
          const validators = rules.map(([level], i) =>
            validatorOf(`${level === 'confirm' ? 'guardian' : 'safety'}.r${i}`, level, `r${i}`),
          );
          const outcomes = new Map<string, RawOutcome>(
            validators.map((v, i) => [
              v.id,
              { kind: 'result', result: { ...(rules[i]?.[1] as ValidatorResult), validator_id: v.id } },
            ]),
          );
          const policies: PlanPolicy[] = drafts.map((draft, i) => ({
            key: `p${i}`,
            name: 'p',
            match: draft.only === undefined ? {} : { validatorIds: [draft.only] },
            requiresConfirmation: draft.requiresConfirmation,
            triggerCardinality: null,
            callback: null,
            metadata: {},
            group: 'owners',
            quorum: 1,
            fourEyes: draft.fourEyes,
            deadlineMs: 60_000,
            confirmationMessage: 'Go on?',
          }));
          expect(loosens(validators, outcomes, said, policies, answers)).toBe(false);
        },
      ),
      { numRuns: RUN_ALL ? 10_000 : 1_000 },
    );
  });

  it('cannot replace a person: a rule that a person must confirm waits regardless of the judge', () => {
    const rule = validatorOf('guardian.r0', 'confirm', 'r0');
    const outcomes = new Map<string, RawOutcome>([
      [
        rule.id,
        { kind: 'result', result: { validator_id: rule.id, status: 'WARN', reason: 'w', evidenceRefs: ['diff:x#L1'] } },
      ],
      [JUDGE_ID, { kind: 'result', result: alwaysAllow('SELECT 1') }],
    ]);
    expect(decisionOf(planOf([rule, JUDGE], 'SQLDryRun'), outcomes, 'none')).toMatchObject({ action: 'WAIT' });
  });
});
