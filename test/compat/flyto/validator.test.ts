import { ApplicationFailure } from '@temporalio/common';
import { verdictStatus } from '../../../policy/contracts/verdict';
import { breakerSample } from '../../../policy/contracts/readings';
import { alwaysApprove, newValidatedTool } from '../../../compat/flyto/validated-tool';
import { ALWAYS_APPROVE } from '../../../policy/validators/always-approve';
import { dispatchValidator } from '../../../compat/flyto/dispatch-validator';
import { hasErrorCode } from '../../../compat/flyto/has-error-code';
import { ValidatorError } from '../../../policy/validators/validator';
import { diffOf, scripted } from '../../policy/validators/fixtures';

describe('alwaysApprove', () => {
  test('approves any diff, and its name and reason say that validation is opted out [F36, F37, F39]', async () => {
    const validator = alwaysApprove('read-only sandbox');
    const verdict = await validator.validate({}, diffOf('DROP TABLE users', { affected_rows: 1e9 }));
    expect(validator.name()).toBe('always-approve');
    expect(verdict).toEqual({
      approved: true,
      score: 1,
      reason: 'validation is opted out by always-approve: read-only sandbox',
      severity: '',
      details: {},
      validatorName: ALWAYS_APPROVE,
      policyVersion: '',
    });
  });

  test('counts as a success for the circuit breaker, not as a warning [F36, T18]', async () => {
    expect(breakerSample(verdictStatus(await alwaysApprove().validate({}, diffOf('x'))))).toBe('success');
    expect(breakerSample(verdictStatus({ approved: false, severity: '' }))).toBe('warn');
  });
});

describe('dispatchValidator', () => {
  const validator = dispatchValidator('by_tool', 'p', {
    SQLDryRun: scripted('sql', { approved: false, severity: 'block' }),
    HTTPPatch: scripted('http', {}),
  });

  test('calls the validator of the source tool and answers under its own name [F2, F9]', async () => {
    await expect(validator.validate({}, diffOf('x', {}, 'SQLDryRun'))).resolves.toMatchObject({
      approved: false,
      validatorName: 'by_tool',
    });
    await expect(validator.validate({}, diffOf('x', {}, 'HTTPPatch'))).resolves.toMatchObject({ approved: true });
  });

  test.each(['sqldryrun', '', 'constructor', '__proto__', 'GitPatch'])(
    'rejects source tool %j with ErrUnknownDiffType and a block verdict [F10, F22, T14]',
    async (sourceTool) => {
      const error: unknown = await validator.validate({}, diffOf('x', {}, sourceTool)).catch((e: unknown) => e);
      expect(hasErrorCode(error, 'ErrUnknownDiffType')).toBe(true);
      expect(error).toMatchObject({ verdict: { approved: false, severity: 'block' } });
    },
  );
});

test('dispatchValidator rejects what is not a verdict, so that no caller reads it', async () => {
  for (const verdict of [undefined, true, { approved: true }]) {
    const child = { name: () => 'v', validate: () => Promise.resolve(verdict as never) };
    await expect(
      dispatchValidator('by_tool', 'p', { SQLDryRun: child }).validate({}, diffOf('x')),
    ).rejects.toMatchObject({
      code: 'ErrValidatorBackend',
      verdict: { approved: false, severity: 'block', validatorName: 'by_tool' },
    });
  }
});

test.each([
  [{ approved: 'false', severity: '' }, 'BLOCK'],
  [{ severity: 'warn' }, 'BLOCK'],
  [{ approved: true, severity: 'BLOCK' }, 'BLOCK'],
  [{ approved: true }, 'BLOCK'],
  [{}, 'BLOCK'],
])('verdictStatus does not allow %j, which is not a verdict', (verdict, status) => {
  expect(verdictStatus(verdict as never)).toBe(status);
});

describe('hasErrorCode', () => {
  test('finds the class through causes, joined errors and an ApplicationFailure’s type [F23]', () => {
    const error = new ValidatorError('ErrVerdictParse', 'no verdict', { validatorName: 'v', policyVersion: '' });
    expect(
      hasErrorCode(new Error('outer', { cause: new AggregateError([new Error('x'), error]) }), 'ErrVerdictParse'),
    ).toBe(true);
    expect(hasErrorCode(ApplicationFailure.create({ type: 'ErrVerdictParse', message: 'm' }), 'ErrVerdictParse')).toBe(
      true,
    );
    expect(hasErrorCode(error, 'ErrValidatorBackend')).toBe(false);
    for (const nothing of [undefined, null, 'ErrVerdictParse', 1])
      expect(hasErrorCode(nothing, 'ErrVerdictParse')).toBe(false);
    for (const absent of [{}, new Error('x')]) expect(hasErrorCode(absent, undefined as never)).toBe(false);
  });

  test('terminates on a cycle of causes', () => {
    const error = new Error('self');
    error.cause = error;
    expect(hasErrorCode(error, 'ErrTimeout')).toBe(false);
  });

  test('every ValidatorError has a complete block verdict besides its code [F3, F20, F21, F54]', () => {
    for (const code of ['ErrValidatorBackend', 'ErrVerdictParse', 'ErrUnknownDiffType', 'ErrTimeout'] as const) {
      expect(new ValidatorError(code, 'why', { validatorName: 'v', policyVersion: 'p' })).toMatchObject({
        code,
        verdict: {
          approved: false,
          score: 0,
          severity: 'block',
          reason: 'why',
          validatorName: 'v',
          policyVersion: 'p',
        },
      });
    }
  });
});

describe('newValidatedTool', () => {
  const samples: unknown[] = [];
  const sink = { record: (...sample: unknown[]) => void samples.push(sample) };
  beforeEach(() => samples.splice(0));

  test.each([[undefined], [null], [{}]])(
    'throws without a validator (%j) and names always-approve [F38, T19]',
    (validator) => {
      expect(() => newValidatedTool({}, validator as never)).toThrow(/always-approve/);
    },
  );

  test('accepts the explicit opt-out [F38]', async () => {
    await expect(newValidatedTool({}, alwaysApprove(), sink).gate({}, diffOf('x'))).resolves.toMatchObject({
      action: 'commit',
      error: null,
    });
    expect(samples).toEqual([['always-approve', 'success', 1]]);
  });

  test.each([
    [{ approved: true }, 'commit', 'success'],
    [{ approved: false, severity: 'warn' }, 'commit', 'warn'],
    [{ approved: false, severity: '' }, 'commit', 'warn'],
    [{ approved: false, severity: 'block' }, 'rollback', 'failure'],
    [{ approved: true, severity: 'block' }, 'rollback', 'failure'],
  ] as const)(
    'maps %j to %s and records %s under the validator’s name [F7, F18, F64, T24]',
    async (verdict, action, sample) => {
      await expect(
        newValidatedTool({}, scripted('v', { ...verdict, score: 0.5 }), sink).gate({}, diffOf('x')),
      ).resolves.toMatchObject({ action });
      expect(samples).toEqual([['v', sample, 0.5]]);
    },
  );

  test.each([
    [
      'a ValidatorError',
      scripted('v', new ValidatorError('ErrValidatorBackend', 'down', { validatorName: 'v', policyVersion: '' })),
    ],
    ['any other error', scripted('v', new Error('bug'))],
    ['a verdict out of shape', scripted('v', { score: 7 })],
    [
      'a synchronous throw',
      {
        name: () => 'v',
        validate: () => {
          throw new Error('sync');
        },
      },
    ],
    ['an object without a text', { name: () => 'v', validate: () => Promise.reject(Object.create(null)) }],
  ])('%s is a rollback and a failure for the breaker [F3, F64]', async (_what, validator) => {
    await expect(newValidatedTool({}, validator, sink).gate({}, diffOf('x'))).resolves.toMatchObject({
      action: 'rollback',
      verdict: { approved: false, severity: 'block' },
    });
    expect(samples).toEqual([['v', 'failure', 0]]);
  });

  test('is a rollback if the sink throws, whether or not the validator answered', async () => {
    const full = {
      record: () => {
        throw new Error('disk full');
      },
    };
    for (const answer of [{ approved: true }, new Error('bug')])
      await expect(newValidatedTool({}, scripted('v', answer), full).gate({}, diffOf('x'))).resolves.toMatchObject({
        action: 'rollback',
        verdict: { approved: false, severity: 'block' },
        error: { errors: [expect.any(Error), expect.objectContaining({ message: 'disk full' })] },
      });
  });
});
