import type { Verdict } from '../contracts/verdict';

/** Name of the opt-out. Code review, logs and dashboards filter by it. */
export const ALWAYS_APPROVE = 'always-approve';

/** The verdict of the opt-out. `why` is the team's reason, appended to the fixed text. */
export function alwaysApproveVerdict(why = ''): Verdict {
  const reason = 'validation is opted out by always-approve';
  return {
    approved: true,
    score: 1,
    reason: why === '' ? reason : `${reason}: ${why}`,
    // Empty on purpose: the circuit breaker then counts a success, not a warning.
    severity: '',
    details: {},
    validatorName: ALWAYS_APPROVE,
    policyVersion: '',
  };
}
