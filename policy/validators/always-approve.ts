import type { Verdict } from '../contracts/verdict';
import type { Validator } from './validator';

/** The one name of the opt-out: what code review, logs and dashboards filter by (F37). */
export const ALWAYS_APPROVE = 'always-approve';

export function alwaysApproveVerdict(why = ''): Verdict {
  const reason = 'validation is opted out by always-approve';
  return {
    approved: true,
    score: 1,
    reason: why === '' ? reason : `${reason}: ${why}`,
    // Empty on purpose: the breaker counts a clean success, no warning (F36).
    severity: '',
    details: {},
    validatorName: ALWAYS_APPROVE,
    policyVersion: '',
  };
}

/** The explicit opt-out (F36): ignores the diff and approves, and says so in name and reason. `why` is the team's own. */
export function alwaysApprove(why = ''): Validator {
  return Object.freeze({ name: () => ALWAYS_APPROVE, validate: () => Promise.resolve(alwaysApproveVerdict(why)) });
}
