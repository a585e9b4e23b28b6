import type { AdmittedAnswer } from '../contracts/answer';
import type { Plan } from '../contracts/plan';
import type { ViolationStatus } from '../contracts/status';
import type { PolicyViolation } from '../contracts/violation';
import { lastWords } from './last-words';

/** What people see of a violation: who may answer it, and whose confirmations count. */
export function violationStatus(
  violation: PolicyViolation,
  resolution: ViolationStatus['resolution'],
  of: {
    readonly groups: Plan['groups'];
    readonly requester: string | null;
    readonly answers: readonly AdmittedAnswer[];
  },
): ViolationStatus {
  const members = of.groups[violation.group]?.members ?? [];
  const mayAnswer = members.filter((person) => !(violation.fourEyes && person === of.requester));
  const confirmed = lastWords(of.answers).filter(
    (a) => a.violationId === violation.violationId && a.decision === 'confirm' && mayAnswer.includes(a.person),
  );
  return { ...violation, resolution, mayAnswer, confirmedBy: [...new Set(confirmed.map((a) => a.person))] };
}
