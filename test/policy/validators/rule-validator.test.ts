import { ValidatorError } from '../../../policy/validators/validator';
import type { Rule, RuleResult } from '../../../policy/validators/rule';
import { ruleValidator } from '../../../policy/validators/rule-validator';
import { diffOf } from './fixtures';

const says = (name: string, result: Partial<RuleResult>): Rule & { readonly calls: () => number } => {
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
  await expect(judge(says('a', {}), says('b', {}))).resolves.toMatchObject({ approved: true, score: 1, severity: '' });
  await expect(
    judge(says('a', {}), says('b', { approved: false, severity: 'warn', reason: 'r' }), says('c', {}), says('d', {})),
  ).resolves.toMatchObject({ approved: false, score: 0.75, severity: 'warn', reason: 'b: r' });
});

test('shows both failing rules, the worse severity and the ratio [F16, F27, T3]', async () => {
  const verdict = await judge(
    says('w', { approved: false, severity: 'warn', reason: 'small' }),
    says('b', { approved: false, severity: 'block', reason: 'big' }),
    says('ok', {}),
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

test('an approving rule with a severity does not raise the aggregate [F27, T4]', async () => {
  await expect(judge(says('a', { severity: 'warn' }), says('b', { severity: 'block' }))).resolves.toMatchObject({
    approved: true,
    severity: '',
  });
  await expect(
    judge(says('a', { severity: 'block' }), says('b', { approved: false, severity: 'warn' })),
  ).resolves.toMatchObject({ severity: 'warn' });
});

test('a failing rule with an empty severity reads as warn [F19, T18]', async () => {
  await expect(judge(says('a', { approved: false, severity: '' }))).resolves.toMatchObject({
    approved: false,
    severity: 'warn',
  });
});

test('runs every rule, though the first one blocks [F28]', async () => {
  const last = says('c', {});
  await judge(says('a', { approved: false, severity: 'block' }), says('b', {}), last);
  expect(last.calls()).toBe(1);
});

test('without rules approves with score 1, not NaN [F30, T1]', async () => {
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

test('its version may be empty and stands in the verdict [F15, F29]', async () => {
  await expect(ruleValidator('rules', '').validate({}, diffOf('x'))).resolves.toMatchObject({ policyVersion: '' });
});

test('refuses two rules of one name at construction [F25, T13]', () => {
  expect(() => ruleValidator('rules', '', says('a', {}), says('b', {}), says('a', {}))).toThrow(/"a" appears twice/);
});

test.each(['', 'a b', 'x'.repeat(64), '__proto__'])('refuses the name %j at construction', (name) => {
  expect(() => ruleValidator(name, '')).toThrow(/name/);
  expect(() => ruleValidator('ok', '', says(name, {}))).toThrow(/name/);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('boom');
    },
  ],
  ['gives nothing', () => undefined],
  ['gives a bare true', () => true],
  ['approves with a text', () => ({ approved: 'true', reason: '', severity: '' })],
  ['has an unknown severity', () => ({ approved: true, reason: '', severity: 'info' })],
])(
  'a rule that %s ends as an error with a block verdict, and the others still run [F3, F20, F28]',
  async (_how, apply) => {
    const last = says('last', {});
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
