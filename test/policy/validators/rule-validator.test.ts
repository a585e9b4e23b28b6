import { ValidatorError } from '../../../policy/validators/validator';
import type { Rule, RuleResult } from '../../../policy/validators/rule';
import { ruleValidator } from '../../../policy/validators/rule-validator';
import { diffOf } from './fixtures';

const scriptedRule = (name: string, result: Partial<RuleResult>): Rule & { readonly calls: () => number } => {
  let calls = 0;
  return {
    name,
    calls: () => calls,
    apply: () => {
      calls += 1;
      return { approved: true, reason: '', severity: '', ...result };
    },
  };
};
const judge = (...rules: Rule[]) => ruleValidator('rules', 'p1', ...rules).validate({}, diffOf('x'));

test('approves only if every rule approves, with score passed / total [F27]', async () => {
  await expect(judge(scriptedRule('a', {}), scriptedRule('b', {}))).resolves.toMatchObject({
    approved: true,
    score: 1,
    severity: '',
  });
  await expect(
    judge(
      scriptedRule('a', {}),
      scriptedRule('b', { approved: false, severity: 'warn', reason: 'r' }),
      scriptedRule('c', {}),
      scriptedRule('d', {}),
    ),
  ).resolves.toMatchObject({ approved: false, score: 0.75, severity: 'warn', reason: 'b: r' });
});

test('reports both failing rules, the worse severity and the ratio [F16, F27, T3]', async () => {
  const verdict = await judge(
    scriptedRule('w', { approved: false, severity: 'warn', reason: 'small' }),
    scriptedRule('b', { approved: false, severity: 'block', reason: 'big' }),
    scriptedRule('ok', {}),
  );
  expect(verdict).toMatchObject({ approved: false, severity: 'block', validatorName: 'rules', policyVersion: 'p1' });
  expect(verdict.score).toBeCloseTo(1 / 3);
  expect(Object.keys(verdict.details)).toEqual(['w', 'b', 'ok']);
  expect(verdict.details).toMatchObject({
    w: { approved: false, severity: 'warn', reason: 'small' },
    b: { severity: 'block' },
    ok: { approved: true },
  });
});

test('ignores the severity of an approving rule [F27, T4]', async () => {
  await expect(
    judge(scriptedRule('a', { severity: 'warn' }), scriptedRule('b', { severity: 'block' })),
  ).resolves.toMatchObject({
    approved: true,
    severity: '',
  });
  await expect(
    judge(scriptedRule('a', { severity: 'block' }), scriptedRule('b', { approved: false, severity: 'warn' })),
  ).resolves.toMatchObject({ severity: 'warn' });
});

test('counts the empty severity of a failing rule as warn [F19, T18]', async () => {
  await expect(judge(scriptedRule('a', { approved: false, severity: '' }))).resolves.toMatchObject({
    approved: false,
    severity: 'warn',
  });
});

test('runs every rule, even if the first one blocks [F28]', async () => {
  const last = scriptedRule('c', {});
  await judge(scriptedRule('a', { approved: false, severity: 'block' }), scriptedRule('b', {}), last);
  expect(last.calls()).toBe(1);
});

test('approves with score 1, not NaN, without rules [F30, T1]', async () => {
  await expect(judge()).resolves.toEqual({
    approved: true,
    score: 1,
    reason: '',
    severity: '',
    details: {},
    validatorName: 'rules',
    policyVersion: 'p1',
  });
});

test('puts the policy version, which may be empty, into the verdict [F15, F29]', async () => {
  await expect(ruleValidator('rules', '').validate({}, diffOf('x'))).resolves.toMatchObject({ policyVersion: '' });
});

test('rejects two rules with the same name at construction [F25, T13]', () => {
  expect(() => ruleValidator('rules', '', scriptedRule('a', {}), scriptedRule('b', {}), scriptedRule('a', {}))).toThrow(
    /"a" appears twice/,
  );
});

test.each(['', 'a b', 'x'.repeat(64), '__proto__'])('rejects the name %j at construction', (name) => {
  expect(() => ruleValidator(name, '')).toThrow(/name/);
  expect(() => ruleValidator('ok', '', scriptedRule(name, {}))).toThrow(/name/);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('boom');
    },
  ],
  ['returns undefined', () => undefined],
  ['returns a bare true', () => true],
  ['approves with a string', () => ({ approved: 'true', reason: '', severity: '' })],
  ['has an unknown severity', () => ({ approved: true, reason: '', severity: 'info' })],
])(
  'throws an error with a block verdict if a rule %s, and still runs the other rules [F3, F20, F28]',
  async (_how, apply) => {
    const last = scriptedRule('last', {});
    const failing = judge({ name: 'bad', apply: apply as Rule['apply'] }, last);
    const error: ValidatorError = await failing.then(
      () => {
        throw new Error('resolved');
      },
      (e: ValidatorError) => e,
    );
    expect(error).toBeInstanceOf(ValidatorError);
    expect(error).toMatchObject({
      code: 'ErrValidatorBackend',
      verdict: { approved: false, severity: 'block', validatorName: 'rules' },
    });
    expect(error.cause).toBeInstanceOf(Error);
    expect(last.calls()).toBe(1);
  },
);
