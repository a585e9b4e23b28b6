import type { AdmittedAnswer } from '../contracts/answer';
import type { RollbackReason } from '../contracts/outcome';
import type { ReviewFinding, ReviewPlan } from '../contracts/history-plan';
import { fires, isJudge } from '../contracts/readings';
import type { PolicyViolation } from '../contracts/violation';
import { countedAnswers, deadlineOf, isEligible, type GivenAnswers } from './counted-answers';
import { CONTRACT_VIOLATION, isHardBlock } from './findings';
import { MAX_VIOLATIONS } from '../contracts/limits';

/**
 * The one decision, called by the workflow (to act), the committer (to verify) and `countersign verify` (offline).
 *
 * D1 COMMIT only if every violation is resolved, there is no hard block, and every validator of the plan has a finding whose
 *    phase, class and logic_hash match the plan.
 * D2 Precedence: hard block > human reject > no handler > time-out.
 * D3 Adding a finding, a violation or a judge never loosens the outcome.
 * D4 The order of two answers never changes the outcome.
 * D5 Of each person the last signed answer counts, and a reject is final (`lastWords`). Only confirmations must be in time
 *    (`countedAnswers`).
 * D6 Never reads a clock: `at` is a parameter.
 *
 * Frozen per `decideRevision`: to change the result of any input, add a new revision next to this one.
 */
export const DECIDE_REVISION = 1;

export interface DecideInput {
  readonly plan: ReviewPlan;
  readonly findings: readonly ReviewFinding[];
  readonly violations: readonly PolicyViolation[];
  readonly answers: readonly AdmittedAnswer[];
  readonly requester: string | null;
  /**
   * People who can answer: owners of an active key, or all members if answers are unsigned. Null if this is not checked, for example when
   * the committer verifies a COMMIT.
   */
  readonly reachable: readonly string[] | null;
  /** When the violations were disclosed; null before that. ISO 8601. */
  readonly disclosedAt: string | null;
  readonly at: string;
}

/** The members that determine which answers count. */
type AnswerInput = Pick<DecideInput, 'plan' | 'violations' | 'answers' | 'requester' | 'disclosedAt' | 'at'>;

type Resolution = 'callback' | 'confirmed' | 'rejected' | 'hard' | 'pending';

export type Decided =
  | { readonly action: 'COMMIT'; readonly resolutions: Readonly<Record<string, Resolution>> }
  | {
      readonly action: 'ROLLBACK';
      readonly reason: RollbackReason;
      readonly explanation: string;
      readonly resolutions: Readonly<Record<string, Resolution>>;
    }
  | {
      readonly action: 'WAIT';
      readonly pending: readonly string[];
      readonly nextDeadline: string;
      readonly resolutions: Readonly<Record<string, Resolution>>;
    };

export function decide(input: DecideInput): Decided {
  if (input.plan.decideRevision !== DECIDE_REVISION) {
    return {
      action: 'ROLLBACK',
      reason: 'policy_moved',
      explanation: `This worker does not support decide revision ${input.plan.decideRevision} of the plan; expected ${DECIDE_REVISION}`,
      resolutions: {},
    };
  }
  const resolutions = Object.fromEntries(input.violations.map((v) => [v.violationId, resolutionOf(v, input)]));
  const rollback = (reason: RollbackReason, explanation: string): Decided => ({
    action: 'ROLLBACK',
    reason,
    explanation,
    resolutions,
  });

  const broken = input.findings.find((f) => f.validator_id === CONTRACT_VIOLATION && f.status === 'BLOCK');
  if (broken !== undefined) return rollback('contract_violation', broken.reason);
  const forbidden = input.findings.filter(isHardBlock);
  if (forbidden.length > 0)
    return rollback('forbidden', forbidden.map((f) => `${f.validator_id}: ${f.reason}`).join('\n'));
  if (input.violations.length > MAX_VIOLATIONS)
    return rollback(
      'forbidden',
      `The change has ${input.violations.length} violations, more than the maximum of ${MAX_VIOLATIONS}`,
    );
  const hard = input.violations.filter((v) => v.need === 'hard');
  if (hard.length > 0)
    return rollback('forbidden', hard.map((v) => hardText(v, input.findings[v.findingIndex])).join('\n'));

  const incomplete = incompleteness(input);
  if (incomplete !== null) return rollback('contract_violation', incomplete);

  const rejected = input.violations.filter((v) => resolutions[v.violationId] === 'rejected');
  if (rejected.length > 0) return rollback('declined', declinedText(rejected, input));

  const pending = input.violations.filter((v) => resolutions[v.violationId] === 'pending');
  const unreachable = pending.find((v) => !canBeAnswered(v, input));
  if (unreachable !== undefined)
    return rollback(
      'no_handler',
      `Confirmation required, no handler: too few people of group "${unreachable.group}" can answer`,
    );
  if (pending.length === 0) return { action: 'COMMIT', resolutions };

  const { disclosedAt } = givenIn(input);
  const deadline = Math.min(...pending.map((v) => deadlineOf(v, disclosedAt)));
  // NaN if a time cannot be parsed. Fails closed: the comparison below is then false, and the change rolls back.
  const nextDeadline = Number.isNaN(deadline) ? 'an invalid deadline' : new Date(deadline).toISOString();
  if (!(Date.parse(input.at) < deadline))
    return rollback('expired', `No sufficient answers before ${nextDeadline}; an expired review is rolled back`);
  return { action: 'WAIT', pending: pending.map((v) => v.violationId), nextDeadline, resolutions };
}

/**
 * Why the findings or violations are incomplete. Null if each validator of the plan has its finding, none was skipped without permission,
 * and each POLICY finding that fires has a violation.
 */
function incompleteness(input: DecideInput): string | null {
  const { plan, findings } = input;
  for (const [i, validator] of plan.validators.entries()) {
    const finding = findings[i];
    if (finding?.validator_id !== validator.id) return `Validator ${validator.id} of the plan has no finding`;
    const { phase, class: hookClass, logic_hash } = finding;
    if (phase !== validator.phase || hookClass !== validator.class || logic_hash !== validator.logic_hash)
      return `The finding of ${validator.id} does not match the phase, class or logic_hash in the plan`;
    if (finding.status === 'SKIPPED' && !mayBeSkipped(plan, findings, i))
      return `${validator.id} was skipped, but the plan does not allow it`;
  }
  const unpassed = input.violations.find(
    (v) => v.need === 'callback' && (v.requiresConfirmation || v.callbackResult?.passed !== true),
  );
  if (unpassed !== undefined)
    return `The violation of ${unpassed.validatorId} counts as resolved by a callback, but no callback passed`;
  const shown = new Set(input.violations.map((v) => v.findingIndex));
  const missing = findings.findIndex((f, i) => f.class === 'POLICY' && fires(f) && !shown.has(i));
  return missing === -1 ? null : `${findings[missing]?.validator_id ?? ''} fired, but there is no violation for it`;
}

/** True only for a judge that the plan runs only if the rules are clean, and only if another POLICY finding fires. */
function mayBeSkipped(plan: ReviewPlan, findings: readonly ReviewFinding[], index: number): boolean {
  const validator = plan.validators[index];
  if (
    findings[index]?.reasonCode !== 'judge_when' ||
    plan.judgeWhen !== 'onlyIfClean' ||
    validator === undefined ||
    !isJudge(validator)
  )
    return false;
  return findings.some((f, i) => i !== index && f.class === 'POLICY' && fires(f));
}

function resolutionOf(violation: PolicyViolation, input: AnswerInput): Resolution {
  if (violation.need === 'hard') return 'hard';
  if (violation.need === 'callback') return 'callback';
  const counted = countedAnswers(violation, givenIn(input));
  if (counted.some((a) => a.decision === 'reject')) return 'rejected';
  const people = new Set(counted.map((a) => a.person));
  return people.size >= violation.quorum ? 'confirmed' : 'pending';
}

/** Before the disclosure there are no answers; the deadlines begin at `at` or later. */
function givenIn(input: AnswerInput): GivenAnswers & { readonly disclosedAt: string } {
  const { plan, requester, answers, disclosedAt, at } = input;
  return { groups: plan.groups, requester, answers, disclosedAt: disclosedAt ?? at };
}

/** Admission time of the last confirmation that counts; null if there is none. The commit window starts here. */
export function lastCountedAt(input: AnswerInput): string | null {
  const given = givenIn(input);
  const times = input.violations
    .filter((v) => v.need === 'human')
    .flatMap((v) => countedAnswers(v, given).filter(({ decision }) => decision === 'confirm'))
    .map((a) => Date.parse(a.admittedAt));
  return times.length === 0 ? null : new Date(Math.max(...times)).toISOString();
}

/** Violations that wait for a person, and the earliest deadline among them; null if there are none. A reject ends the wait for all. */
export function stillPending(input: AnswerInput): {
  readonly pending: readonly string[];
  readonly nextDeadline: string | null;
} {
  const { disclosedAt } = givenIn(input);
  const resolutions = input.violations.map((v) => [v, resolutionOf(v, input)] as const);
  if (resolutions.some(([, resolution]) => resolution === 'rejected')) return { pending: [], nextDeadline: null };
  const pending = resolutions.flatMap(([v, resolution]) => (resolution === 'pending' ? [v] : []));
  const deadline = Math.min(...pending.map((v) => deadlineOf(v, disclosedAt)));
  return {
    pending: pending.map((v) => v.violationId),
    nextDeadline: Number.isFinite(deadline) ? new Date(deadline).toISOString() : null,
  };
}

function canBeAnswered(violation: PolicyViolation, input: DecideInput): boolean {
  if (input.reachable === null) return true;
  const answered = new Set(input.answers.filter((a) => a.violationId === violation.violationId).map((a) => a.person));
  const people = new Set([...input.reachable, ...answered]);
  const answerers = givenIn(input);
  return [...people].filter((person) => isEligible(violation, person, answerers)).length >= violation.quorum;
}

/** The finding and the callback's message. Without the confirmation message, which is a question to a person. */
function hardText(violation: PolicyViolation, finding: ReviewFinding | undefined): string {
  const message = violation.callbackResult?.message ?? null;
  return `${violation.validatorId}: ${finding?.reason ?? violation.message}${message === null ? '' : `\n${message}`}`;
}

function declinedText(rejected: readonly PolicyViolation[], input: DecideInput): string {
  return rejected
    .map((v) => {
      const rejection = countedAnswers(v, givenIn(input)).find((a) => a.decision === 'reject');
      return `${v.validatorId} declined by ${rejection?.person ?? 'an approver'}${rejection?.reason ? `: ${rejection.reason}` : ''}`;
    })
    .join('\n');
}
