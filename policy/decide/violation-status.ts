import type { ViolationStatus } from '../contracts/status';
import type { PolicyViolation } from '../contracts/violation';
import { countedAnswers, eligiblePeople, type GivenAnswers } from './counted-answers';

/** The violation as people see it. `confirmedBy`: the people whose confirmation `decide` counts, each once. */
export function violationStatus(
  violation: PolicyViolation,
  resolution: ViolationStatus['resolution'],
  given: GivenAnswers,
): ViolationStatus {
  const confirmed = countedAnswers(violation, given).filter(({ decision }) => decision === 'confirm');
  return {
    ...violation,
    resolution,
    mayAnswer: eligiblePeople(violation, given),
    confirmedBy: confirmed.map(({ person }) => person),
  };
}
