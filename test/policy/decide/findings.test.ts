import fc from 'fast-check';
import { canonicalJson } from '../../../policy/contracts/canonical-json';
import type { ValidatorFinding } from '../../../policy/contracts/finding';
import {
  assembleAnswered,
  assembleFindings,
  CONTRACT_VIOLATION,
  errorResult,
  findingsSha,
  isHardBlock,
  TOO_MANY_VIOLATIONS,
  type RawOutcome,
  type SkipReason,
} from '../../../policy/decide/findings';
import { CHANGE_ID, decideOn, JUDGE, planOf, planValidator, reasonOf, resultOf } from '../../support/plan';

const ADVICE = planValidator('safety.advice', { level: 'advise' });
const BUILTIN = [CONTRACT_VIOLATION, TOO_MANY_VIOLATIONS].map((id) => planValidator(id, { unit: 'builtin' }));
const plan = planOf([
  planValidator('guardian.a'),
  planValidator('safety.b'),
  ADVICE,
  planValidator('guardian.post', { phase: 'post' }),
  JUDGE,
  ...BUILTIN,
]);

const result = (value: unknown): RawOutcome => ({ kind: 'result', result: value });
const clean: readonly (readonly [string, RawOutcome])[] = plan.validators
  .filter((v) => !BUILTIN.includes(v))
  .map((v) => [v.id, result(resultOf(v.id, 'ALLOW'))]);

/** The array with some outcomes replaced; `undefined` removes one. */
function assemble(
  over: Readonly<Record<string, RawOutcome | undefined>> = {},
  more: { tooManyViolations?: number } = {},
): ValidatorFinding[] {
  const outcomes = new Map(clean);
  for (const [id, outcome] of Object.entries(over)) {
    if (outcome === undefined) outcomes.delete(id);
    else outcomes.set(id, outcome);
  }
  return assembleFindings({ plan, changeId: CHANGE_ID, outcomes, ...more });
}

const of = (findings: readonly ValidatorFinding[], id: string): ValidatorFinding => {
  const finding = findings.find((f) => f.validator_id === id);
  if (finding === undefined) throw new Error(`no finding of ${id}`);
  return finding;
};

describe('order', () => {
  test('findings are in declared order, one for each validator, regardless of which finished first [T29, G23, G35]', () => {
    const expected = assemble({ 'guardian.a': result(resultOf('guardian.a', 'BLOCK')) });
    fc.assert(
      fc.property(fc.shuffledSubarray([...clean], { minLength: clean.length }), (order) => {
        const outcomes = new Map(order);
        outcomes.set('guardian.a', result(resultOf('guardian.a', 'BLOCK')));
        const findings = assembleFindings({ plan, changeId: CHANGE_ID, outcomes });
        expect(findings.map((f) => f.validator_id)).toEqual(plan.validators.map((v) => v.id));
        expect(canonicalJson(findings)).toBe(canonicalJson(expected));
      }),
      { numRuns: 50 },
    );
  });
});

test('a result with too many levels to be written as JSON breaks the contract and does not throw', () => {
  const details: unknown = JSON.parse(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`);
  const findings = assemble({ 'guardian.a': result({ ...resultOf('guardian.a', 'ALLOW'), details }) });
  expect(of(findings, 'guardian.a')).toMatchObject({ status: 'BLOCK', reasonCode: 'contract_violation' });
  expect(of(findings, CONTRACT_VIOLATION).status).toBe('BLOCK');
});

describe('values from the plan', () => {
  test('phase, class and logic_hash come from the plan [G8, G10, G11, T30]', () => {
    for (const [i, finding] of assemble().entries()) {
      const { phase, class: hookClass, logic_hash } = plan.validators[i] ?? JUDGE;
      expect(finding).toMatchObject({ phase, class: hookClass, logic_hash });
    }
    expect(of(assemble(), 'guardian.post').phase).toBe('post');
  });

  test.each([
    ['phase', 'post'],
    ['class', 'SAFETY'],
    ['logic_hash', 'f'.repeat(64)],
    ['changeReason', 'x'],
    ['skipped', true],
    ['deterministic', true],
  ])('a result that contains %s breaks the contract [G8, G51, T30, T31]', (member, value) => {
    const findings = assemble({ 'guardian.a': result(resultOf('guardian.a', 'ALLOW', { [member]: value })) });
    expect(of(findings, 'guardian.a')).toMatchObject({
      status: 'BLOCK',
      reasonCode: 'contract_violation',
      class: 'POLICY',
      phase: 'preflight',
    });
    expect(isHardBlock(of(findings, CONTRACT_VIOLATION))).toBe(true);
  });

  test('a result may have reason code, recommended actions and details, and they are kept [G51]', () => {
    const more = { reasonCode: 'code', recommendedActions: ['split it'], details: { rule: { n: 1 } } };
    expect(of(assemble({ 'guardian.a': result(resultOf('guardian.a', 'BLOCK', more)) }), 'guardian.a')).toMatchObject(
      more,
    );
  });
});

describe('a broken contract is a SAFETY BLOCK, never dropped or allowed [T32]', () => {
  const broken: readonly (readonly [string, unknown])[] = [
    ['no evidence for a BLOCK', resultOf('guardian.a', 'BLOCK', { evidenceRefs: [] })],
    ['no evidence for a WARN', resultOf('guardian.a', 'WARN', { evidenceRefs: [] })],
    ['empty evidence', resultOf('guardian.a', 'BLOCK', { evidenceRefs: [''] })],
    ['blank evidence', resultOf('guardian.a', 'BLOCK', { evidenceRefs: ['review:x', ' \t'] })],
    ['more than 50 places', resultOf('guardian.a', 'BLOCK', { evidenceRefs: Array(51).fill('x') })],
    ['another id', resultOf('guardian.b', 'ALLOW')],
    ['no id', { status: 'ALLOW', reason: '', evidenceRefs: [] }],
    ['an ALLOW with an error', resultOf('guardian.a', 'ALLOW', { errorClass: 'ErrTimeout' })],
    ['a WARN with an error', resultOf('guardian.a', 'WARN', { errorClass: 'ErrTimeout' })],
    ['an unknown status', { ...resultOf('guardian.a', 'ALLOW'), status: 'PASS' }],
    ['SKIPPED, which is not for a validator to say', { ...resultOf('guardian.a', 'ALLOW'), status: 'SKIPPED' }],
    ['an unknown error class', resultOf('guardian.a', 'BLOCK', { errorClass: 'Oops' })],
    ['a reason that is too long', resultOf('guardian.a', 'BLOCK', { reason: 'x'.repeat(4001) })],
    ['a lone surrogate, which cannot be hashed', resultOf('guardian.a', 'BLOCK', { reason: 'quotes \ud83d' })],
    ['a bare true', true],
    ['null', null],
    ['undefined', undefined],
    ['text', 'ALLOW'],
    ['an array', [resultOf('guardian.a', 'ALLOW')]],
    ['a promise', Promise.resolve(resultOf('guardian.a', 'ALLOW'))],
    ['a bigint', resultOf('guardian.a', 'ALLOW', { details: { n: 1n } })],
  ];
  test.each(broken)('%s [G24, G32, G41, T32]', (_what, value) => {
    const findings = assemble({ 'guardian.a': result(value) });
    expect(of(findings, 'guardian.a').status).toBe('BLOCK');
    expect(of(findings, CONTRACT_VIOLATION)).toMatchObject({
      status: 'BLOCK',
      class: 'SAFETY',
      evidenceRefs: [`review:${CHANGE_ID}`],
    });
    expect(of(findings, CONTRACT_VIOLATION).reason).toContain('guardian.a');
    expect(() => findingsSha(findings)).not.toThrow();
    expect(reasonOf(decideOn(plan, findings))).toBe('contract_violation');
  });

  test('a validator without a result breaks it', () => {
    const findings = assemble({ 'guardian.a': undefined });
    expect(of(findings, 'guardian.a')).toMatchObject({ status: 'BLOCK', reasonCode: 'no_result' });
    expect(reasonOf(decideOn(plan, findings))).toBe('contract_violation');
  });

  test('a rule at level advise that breaks it also causes a rollback', () => {
    const findings = assemble({ 'safety.advice': result(true) });
    expect(of(findings, 'safety.advice').status).toBe('BLOCK');
    expect(reasonOf(decideOn(plan, findings))).toBe('contract_violation');
  });

  test('the reason lists all breaches, not only the first', () => {
    const reason = of(
      assemble({ 'guardian.a': result(null), 'safety.b': undefined, [JUDGE.id]: result(true) }),
      CONTRACT_VIOLATION,
    ).reason;
    for (const id of ['guardian.a', 'safety.b', JUDGE.id]) expect(reason).toContain(id);
  });

  test('the text of a breach is bounded and hashable, whatever the validator returned', () => {
    const findings = assemble({
      'guardian.a': result(
        resultOf(
          'guardian.a',
          'ALLOW',
          Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`\ud83d\ude00${i}`, 1])),
        ),
      ),
    });
    expect(of(findings, 'guardian.a').reason.length).toBeLessThanOrEqual(4000);
    expect(() => findingsSha(findings)).not.toThrow();
  });

  test('no validator can provide the findings that the assembly computes', () => {
    const findings = assemble({
      'guardian.a': result(null),
      [CONTRACT_VIOLATION]: result(resultOf(CONTRACT_VIOLATION, 'ALLOW')),
      [TOO_MANY_VIOLATIONS]: { kind: 'skipped', reasonCode: 'judge_when' },
    });
    expect(of(findings, CONTRACT_VIOLATION).status).toBe('BLOCK');
    expect(of(findings, TOO_MANY_VIOLATIONS).status).toBe('ALLOW');
  });
});

test('a result is read as the history will preserve it: undefined is absent', () => {
  const inProcess = assemble({
    'guardian.a': result(resultOf('guardian.a', 'BLOCK', { reasonCode: undefined, details: { a: undefined, n: 1 } })),
  });
  const throughHistory = assemble({
    'guardian.a': result(JSON.parse(JSON.stringify(resultOf('guardian.a', 'BLOCK', { details: { n: 1 } })))),
  });
  expect(findingsSha(inProcess)).toBe(findingsSha(throughHistory));
});

describe('levels', () => {
  test('a BLOCK of a rule at level advise becomes a SAFETY WARN, which does not stop the change [F18, T41]', () => {
    const findings = assemble({ 'safety.advice': result(resultOf('safety.advice', 'BLOCK')) });
    expect(of(findings, 'safety.advice')).toMatchObject({ status: 'WARN', class: 'SAFETY' });
    expect(decideOn(plan, findings).action).toBe('COMMIT');
  });

  test('an error of a rule at level advise becomes a WARN with its error class, because no result of it could stop the change', () => {
    const findings = assemble({ 'safety.advice': result(resultOf('safety.advice', 'ERROR')) });
    expect(of(findings, 'safety.advice')).toMatchObject({ status: 'WARN', errorClass: 'ErrValidatorBackend' });
    expect(decideOn(plan, findings).action).toBe('COMMIT');
  });

  test('the recorded error of a rule at level advise is read again as the same finding', () => {
    const findings = assemble({ 'safety.advice': result(resultOf('safety.advice', 'ERROR')) });
    const { phase: _phase, class: _class, logic_hash: _hash, ...recorded } = of(findings, 'safety.advice');
    expect(assemble({ 'safety.advice': result(recorded) })).toEqual(findings);
  });

  test.each(['safety.b', 'guardian.a'])('the BLOCK of %s is not lowered', (id) => {
    for (const says of ['BLOCK', 'ERROR'] as const)
      expect(of(assemble({ [id]: result(resultOf(id, says)) }), id).status).toBe('BLOCK');
  });
});

describe('SKIPPED', () => {
  test.each(['static_block', 'staged_block', 'judge_when', 'withdrawn'] as const satisfies readonly SkipReason[])(
    'has its reason, %s, and is not ALLOW [T45]',
    (reasonCode) => {
      const finding = of(assemble({ [JUDGE.id]: { kind: 'skipped', reasonCode } }), JUDGE.id);
      expect(finding).toMatchObject({ status: 'SKIPPED', reasonCode, evidenceRefs: [] });
      expect(finding.reason).toMatch(/^Not run: /);
    },
  );
});

describe('too many violations', () => {
  test('is ALLOW before they are counted, then a SAFETY BLOCK with their number', () => {
    expect(of(assemble(), TOO_MANY_VIOLATIONS).status).toBe('ALLOW');
    const findings = assemble({}, { tooManyViolations: 201 });
    expect(of(findings, TOO_MANY_VIOLATIONS)).toMatchObject({ status: 'BLOCK', class: 'SAFETY' });
    expect(of(findings, TOO_MANY_VIOLATIONS).reason).toContain('201');
    expect(reasonOf(decideOn(plan, findings))).toBe('forbidden');
  });
});

describe('while the review runs', () => {
  test('the array has only validators that have answered, and a broken contract as soon as it occurs', () => {
    const outcomes = new Map<string, RawOutcome>([['safety.b', result(resultOf('safety.b', 'BLOCK'))]]);
    expect(assembleAnswered({ plan, changeId: CHANGE_ID, outcomes }).map((f) => f.validator_id)).toEqual(['safety.b']);
    outcomes.set('guardian.a', result(true));
    expect(assembleAnswered({ plan, changeId: CHANGE_ID, outcomes }).map((f) => f.validator_id)).toEqual([
      'guardian.a',
      'safety.b',
      CONTRACT_VIOLATION,
    ]);
  });

  test('each finding equals the one in the complete array', () => {
    const whole = assemble({ 'guardian.a': result(resultOf('guardian.a', 'WARN')) });
    const outcomes = new Map<string, RawOutcome>([['guardian.a', result(resultOf('guardian.a', 'WARN'))]]);
    expect(assembleAnswered({ plan, changeId: CHANGE_ID, outcomes })).toEqual([of(whole, 'guardian.a')]);
  });
});

test('an ERROR is a BLOCK with its class and evidence, which only a person resolves [F20]', () => {
  const error = errorResult('guardian.a', CHANGE_ID, {
    errorClass: 'ErrTimeout',
    reason: 'late',
    reasonCode: 'late',
    reproducible: false,
  });
  const findings = assemble({ 'guardian.a': result(error) });
  expect(of(findings, 'guardian.a')).toMatchObject({
    status: 'BLOCK',
    errorClass: 'ErrTimeout',
    reproducible: false,
    evidenceRefs: [`review:${CHANGE_ID}`],
  });
  expect(decideOn(plan, findings).action).toBe('WAIT');
});

test('routing depends on the class, not on the id [G36, T39]', () => {
  const disguised = { ...planValidator('guardian.a'), class: 'SAFETY' as const };
  const turned = { ...planValidator('safety.b'), class: 'POLICY' as const };
  const other = planOf([disguised, turned]);
  const findings = assembleFindings({
    plan: other,
    changeId: CHANGE_ID,
    outcomes: new Map([
      ['guardian.a', result(resultOf('guardian.a', 'WARN'))],
      ['safety.b', result(resultOf('safety.b', 'BLOCK'))],
    ]),
  });
  expect(findings.map(isHardBlock)).toEqual([false, false]);
  expect(decideOn(other, findings)).toMatchObject({ action: 'WAIT', pending: [expect.any(String)] });
});
