import type { AdmittedAnswer } from '../contracts/answer';
import type { Plan } from '../contracts/plan';
import type { PolicyViolation } from '../contracts/violation';
import { lastWords } from './last-words';

/** Who may answer a violation depends on these. */
interface Answerers {
  readonly groups: Plan['groups'];
  readonly requester: string | null;
}

export interface GivenAnswers extends Answerers {
  readonly answers: readonly AdmittedAnswer[];
  /** The deadlines begin here. ISO 8601; null while no deadline has begun. */
  readonly disclosedAt: string | null;
}

/**
 * The answers of eligible people to one violation that count (`lastWords`). A confirmation must have been admitted before the deadline of
 * the violation. A reject or a retraction also counts after it, until the commit begins: the review can still wait for another violation.
 */
export function countedAnswers(violation: PolicyViolation, given: GivenAnswers): readonly AdmittedAnswer[] {
  const deadline = given.disclosedAt === null ? LAST_DATE : deadlineOf(violation, given.disclosedAt);
  const counted = given.answers.filter(
    (a) =>
      a.violationId === violation.violationId &&
      (a.decision !== 'confirm' || Date.parse(a.admittedAt) < deadline) &&
      isEligible(violation, a.person, given),
  );
  return lastWords(counted);
}

/** Members of the violation's group are eligible. If the policy requires four eyes, the requester is not. */
export function isEligible(violation: PolicyViolation, person: string, { groups, requester }: Answerers): boolean {
  const members = groups[violation.group]?.members ?? [];
  return members.includes(person) && !(violation.fourEyes && person === requester);
}

/** All eligible people, in the order of the group. */
export function eligiblePeople(violation: PolicyViolation, answerers: Answerers): string[] {
  const members = answerers.groups[violation.group]?.members ?? [];
  return members.filter((person) => isEligible(violation, person, answerers));
}

/**
 * Milliseconds since the epoch. Not compared as ISO text, because one time can be written in several ways. A confirmation admitted exactly
 * at the deadline does not count.
 */
export function deadlineOf(violation: Pick<PolicyViolation, 'deadlineMs'>, disclosedAt: string): number {
  return Math.min(Date.parse(disclosedAt) + violation.deadlineMs, LAST_DATE);
}

/** The maximum time value of a Date. */
const LAST_DATE = 8.64e15;
