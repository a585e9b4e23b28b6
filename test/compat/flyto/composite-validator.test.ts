import type { ErrorClass } from '../../../policy/contracts/finding';
import { compositeValidator } from '../../../compat/flyto/composite-validator';
import { hasErrorCode } from '../../../compat/flyto/has-error-code';
import type { CompositionMode } from '../../../policy/validators/combine-verdicts';
import { ValidatorError, type Validator } from '../../../policy/validators/validator';
import { diffOf, scripted } from '../../policy/validators/fixtures';

const diff = diffOf('x');
const failure = (code: ErrorClass, name = 'v') =>
  new ValidatorError(code, `${code} happened`, { validatorName: name, policyVersion: '' });
/** The composite `c` with version `p`, applied to the diff. */
const run = (mode: CompositionMode | undefined, ...children: readonly Validator[]) =>
  compositeValidator('c', 'p', mode, ...children).validate({}, diff);
const rejected = (promise: Promise<unknown>): Promise<ValidatorError> =>
  promise.then(
    () => {
      throw new Error('resolved');
    },
    (error: ValidatorError) => error,
  );

test.each(['allMustApprove', 'waterfall'] as const)(
  '%s approves with score 1 if it has no children [F45, T2]',
  async (mode) => {
    await expect(run(mode)).resolves.toEqual({
      approved: true,
      score: 1,
      reason: '',
      severity: '',
      details: {},
      validatorName: 'c',
      policyVersion: 'p',
    });
  },
);

describe('allMustApprove', () => {
  test('is the default mode [F41]', async () => {
    const last = scripted('z', {});
    await run(undefined, scripted('a', { approved: false, severity: 'block' }), last);
    expect(last.calls()).toBe(1);
  });

  test('runs every child and returns the worst severity, the lowest score, every result and its own version [F40, F42]', async () => {
    const last = scripted('z', { score: 0.9 });
    const verdict = await run(
      'allMustApprove',
      scripted('a', { approved: false, severity: 'block', score: 0.4, reason: 'no', policyVersion: 'theirs' }),
      scripted('b', { approved: false, severity: 'warn', score: 0.2, reason: 'hm' }),
      last,
    );
    expect(last.calls()).toBe(1);
    expect(verdict).toMatchObject({
      approved: false,
      severity: 'block',
      score: 0.2,
      policyVersion: 'p',
      validatorName: 'c',
    });
    expect(verdict.details).toMatchObject({
      a: { approved: false, policyVersion: 'theirs', reason: 'no' },
      b: { severity: 'warn' },
      z: { approved: true, score: 0.9 },
    });
  });

  test('approves if all children approve [F42]', async () => {
    await expect(run('allMustApprove', scripted('a', {}), scripted('b', { score: 0.5 }))).resolves.toMatchObject({
      approved: true,
      score: 0.5,
      severity: '',
    });
  });

  test('runs child 3 after child 1 rejected and child 2 threw, and joins the errors with their classes [F43, T16]', async () => {
    const third = scripted('third', failure('ErrVerdictParse', 'third'));
    const error = await rejected(
      run(
        'allMustApprove',
        scripted('first', { approved: false, severity: 'block' }),
        scripted('second', failure('ErrValidatorBackend', 'second')),
        third,
      ),
    );
    expect(third.calls()).toBe(1);
    expect(hasErrorCode(error, 'ErrValidatorBackend')).toBe(true);
    expect(hasErrorCode(error, 'ErrVerdictParse')).toBe(true);
    expect(hasErrorCode(error, 'ErrUnknownDiffType')).toBe(false);
    expect(error.verdict).toMatchObject({ approved: false, severity: 'block', validatorName: 'c', policyVersion: 'p' });
    expect(Object.keys(error.verdict.details)).toEqual(['first', 'second', 'third']);
  });

  test('blocks if a child throws any other error or returns an invalid verdict [F3]', async () => {
    for (const child of [
      scripted('a', new TypeError('bug')),
      { name: () => 'a', validate: () => Promise.resolve(undefined as never) },
      { name: () => 'a', validate: () => Promise.resolve({ approved: true } as never) },
    ]) {
      const error = await rejected(run('allMustApprove', child));
      expect(error.verdict).toMatchObject({ approved: false, severity: 'block' });
    }
  });
});

describe('waterfall', () => {
  test('does not call child 3 after a reject [F44, T17]', async () => {
    const third = scripted('third', {});
    const verdict = await run(
      'waterfall',
      scripted('first', { score: 0.8 }),
      scripted('second', { approved: false, severity: 'warn', score: 0.5 }),
      third,
    );
    expect(third.calls()).toBe(0);
    expect(verdict).toMatchObject({ approved: false, severity: 'warn', score: 0.5 });
    expect(Object.keys(verdict.details)).toEqual(['first', 'second']);
  });

  test('does not call child 3 after an error either [F44, T17]', async () => {
    const third = scripted('third', {});
    const error = await rejected(
      run('waterfall', scripted('first', {}), scripted('second', failure('ErrVerdictParse')), third),
    );
    expect(third.calls()).toBe(0);
    expect(error).toMatchObject({ code: 'ErrVerdictParse', verdict: { severity: 'block' } });
  });

  test('returns the lowest score and the worst severity if all children pass [F48]', async () => {
    await expect(
      run('waterfall', scripted('a', { score: 0.9 }), scripted('b', { score: 0.7, severity: 'warn' })),
    ).resolves.toMatchObject({ approved: true, score: 0.7, severity: 'warn' });
  });
});

test.each(['any', '', 'ALLMUSTAPPROVE', '__proto__'])(
  'rejects the unknown mode %j with a block verdict and runs no child [F46, T15]',
  async (mode) => {
    const child = scripted('a', {});
    const error = await rejected(run(mode as CompositionMode, child));
    expect(error).toBeInstanceOf(ValidatorError);
    expect(error.verdict).toMatchObject({ approved: false, severity: 'block', validatorName: 'c', policyVersion: 'p' });
    expect(child.calls()).toBe(0);
  },
);

test('composites nest, and errors of inner children stay detectable [F47, F63]', async () => {
  const inner = compositeValidator('inner', '', 'waterfall', scripted('a', failure('ErrUnknownDiffType')));
  const error = await rejected(
    compositeValidator(
      'outer',
      '',
      'allMustApprove',
      compositeValidator('middle', '', 'allMustApprove', inner, scripted('b', {})),
    ).validate({}, diff),
  );
  expect(hasErrorCode(error, 'ErrUnknownDiffType')).toBe(true);
  const outer = compositeValidator(
    'o',
    '',
    'allMustApprove',
    compositeValidator('i', '', 'waterfall', scripted('x', { approved: false, severity: 'warn' })),
  );
  await expect(outer.validate({}, diff)).resolves.toMatchObject({
    approved: false,
    severity: 'warn',
    details: { i: { details: { x: { approved: false } } } },
  });
});

test.each([undefined, null, {}, { name: 'a' }])('throws for a child that is not a validator: %j', (child) => {
  expect(() => compositeValidator('c', '', 'waterfall', scripted('a', {}), child as never)).toThrow(
    /^Child of composite "c": expected a Validator, got (undefined|null|object)$/,
  );
});

test('throws if two children have the same name [F2, T13]', () => {
  expect(() => compositeValidator('c', '', 'waterfall', scripted('a', {}), scripted('a', {}))).toThrow(
    /"a" appears twice/,
  );
});

test('rethrows the caller’s cancellation unchanged and does not run the remaining children', async () => {
  const cancelled = new Error('cancelled');
  const rest = scripted('rest', {});
  await expect(
    compositeValidator('c', '', 'allMustApprove', scripted('a', cancelled), rest).validate(
      { signal: { aborted: true } },
      diff,
    ),
  ).rejects.toBe(cancelled);
  expect(rest.calls()).toBe(0);
});
