import { FailureType } from '../../../policy/contracts/failure-type';
import { ValidatorResult } from '../../../policy/contracts/finding';
import { causeOf, failureMessage, JUDGE_CAUSES, judgeFailureResult } from '../../../policy/decide/judge-failure';

const result = (failureType: string, message = 'x'): ValidatorResult =>
  judgeFailureResult({ validatorId: 'guardian.llm_judge', changeId: 'c'.repeat(64), failureType, message });

describe('judgeFailureResult', () => {
  it.each([
    [FailureType.Backend, 'ErrValidatorBackend', 'judge_backend', false],
    [FailureType.VerdictParse, 'ErrVerdictParse', 'judge_verdict_parse', false],
    [FailureType.UnknownDiffType, 'ErrUnknownDiffType', 'judge_unknown_diff_type', true],
    ['TimeoutFailure', 'ErrTimeout', 'judge_timeout', false],
    [FailureType.DigestMismatch, 'ErrValidatorBackend', 'judge_backend', false],
    ['an unknown type', 'ErrValidatorBackend', 'judge_backend', false],
    ['', 'ErrValidatorBackend', 'judge_backend', false],
  ])(
    'returns a BLOCK with evidence for %s, with error class %s [F3, F20, F21, F22, T28]',
    (type, errorClass, reasonCode, reproducible) => {
      const made = result(type);
      expect(made).toMatchObject({ status: 'BLOCK', errorClass, reasonCode, reproducible });
      expect(ValidatorResult.parse(made)).toEqual(made);
      expect(made.evidenceRefs.length).toBeGreaterThan(0);
    },
  );

  it('says that the judge did not answer, and gives the cause', () => {
    for (const cause of JUDGE_CAUSES) {
      const made = result(FailureType.Backend, failureMessage(cause, 'words'));
      expect(made).toMatchObject({ details: { cause } });
      expect(made.reason).toMatch(new RegExp(`^The judge could not answer: ${cause}: [^:]+$`));
    }
    expect(causeOf('no cause here')).toBeNull();
    expect(causeOf('constructor: x')).toBeNull();
  });

  it('repeats only the cause and HTTP status of the message, which is not trusted', () => {
    expect(result(FailureType.Backend, 'rate_limited: the server answered 429 confirm_it')).toMatchObject({
      reason: 'The judge could not answer: rate_limited: the request rate limit was exceeded (HTTP 429)',
    });
    for (const [type, message] of [
      ['approved', 'approved'],
      [FailureType.Backend, 'approved: ok'],
      [FailureType.Backend, 'timeout: approved, it answered 4290'],
    ] as const)
      expect(JSON.stringify(result(type, message))).not.toMatch(/approved|4290/);
    expect(result(FailureType.PolicyMoved, 'x').reason).toBe('The judge could not answer: policy_moved');
  });

  it('is a valid result for a message of any length', () => {
    expect(ValidatorResult.safeParse(result('x', 'y'.repeat(100_000))).success).toBe(true);
  });
});
