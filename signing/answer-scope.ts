import type { Submission } from '../policy/contracts/diff';
import type { Plan } from '../policy/contracts/plan';
import type { PolicyViolation } from '../policy/contracts/violation';
import type { AnswerScope } from './judge-answer';

/** What answers to a disclosed review are compared with. `fingerprint` and `violations` must be those of the same disclosure. */
export function answerScopeOf(review: {
  readonly changeId: string;
  readonly submission: Pick<Submission, 'tenant' | 'target'>;
  readonly plan: Pick<Plan, 'answers' | 'development' | 'groups'>;
  readonly fingerprint: string | null;
  readonly requester: string | null;
  readonly violations: readonly PolicyViolation[];
}): AnswerScope {
  const { changeId, submission, plan, fingerprint, requester, violations } = review;
  const { tenant, target } = submission;
  return {
    changeId,
    context: { tenant, target, environment: plan.development ? 'development' : 'production' },
    answersMode: plan.answers,
    development: plan.development,
    fingerprint,
    requester,
    violations: violations.map((v) => ({ ...v, members: plan.groups[v.group]?.members ?? [] })),
  };
}
