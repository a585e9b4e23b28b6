import type { ViolationStatus } from '../contracts/status';
import type { PolicyViolation } from '../contracts/violation';
import { countedAnswers, isEligible, type GivenAnswers } from './counted-answers';

/** The violation as people see it. `confirmedBy`: the people whose confirmation `decide` counts, each once. */
export function violationStatus(
  violation: PolicyViolation,
  resolution: ViolationStatus['resolution'],
  given: GivenAnswers,
): ViolationStatus {
  const mayAnswer = (given.groups[violation.group]?.members ?? []).filter((person) =>
    isEligible(violation, person, given),
  );
  const confirmed = countedAnswers(violation, given).filter(({ decision }) => decision === 'confirm');
  return { ...violation, resolution, mayAnswer, confirmedBy: confirmed.map(({ person }) => person) };
}
