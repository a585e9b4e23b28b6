import type { AdmittedAnswer } from '../contracts/answer';
import type { ValidatorFinding } from '../contracts/finding';
import type { RollbackReason } from '../contracts/outcome';
import type { Plan } from '../contracts/plan';
import { fires, isJudge } from '../contracts/readings';
import type { PolicyViolation } from '../contracts/violation';
import { CONTRACT_VIOLATION, isHardBlock } from './findings';
import { tooMany } from './violations';

/**
 * The one decision, called by the workflow (to act), the committer (to verify) and `countersign verify` (offline).
 *
 * D1 COMMIT only when every violation is resolved, no hard block stands, and every validator of the plan has a finding
 *    that says of it what the plan says.
 * D2 Precedence: hard block > human reject > no handler > time-out (checklist, Decision table).
 * D3 Adding a finding, a violation or a judge never loosens the outcome.
 * D4 Which of two answers came first never changes the outcome.
 * D5 Nothing here reads a clock: `at` is data.
 *
 * Frozen per `decideRevision`: a change of meaning is a new revision beside this one, not an edit.
 */
export const DECIDE_REVISION = 1;

export interface DecideInput {
  readonly plan: Plan;
  readonly findings: readonly ValidatorFinding[];
  readonly violations: readonly PolicyViolation[];
  readonly answers: readonly AdmittedAnswer[];
  readonly requester: string | null;
  /** Persons with an active key (or, unsigned, all members). Null: not asked here, as when the committer checks a COMMIT. */
  readonly reachable: readonly string[] | null;
  /** When the violations were disclosed; null while there is nothing to wait for. ISO 8601. */
  readonly disclosedAt: string | null;
  readonly at: string;
}

export type Resolution = 'callback' | 'confirmed' | 'rejected' | 'hard' | 'pending';

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
      explanation: `No decide revision ${input.plan.decideRevision} here`,
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
  if (tooMany(input.violations))
    return rollback('forbidden', `${input.violations.length} violations are more than a person can answer one by one`);
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
      `Confirmation required, no handler: group "${unreachable.group}" has too few people who can answer`,
    );
  if (pending.length === 0) return { action: 'COMMIT', resolutions };

  const deadline = Math.min(...pending.map((v) => deadlineOf(v, input)));
  // A time that cannot be read is no time to wait for.
  const nextDeadline = Number.isNaN(deadline) ? 'an unreadable time' : new Date(deadline).toISOString();
  if (!(Date.parse(input.at) < deadline))
    return rollback('expired', `Not answered by ${nextDeadline}: expiry is rollback`);
  return { action: 'WAIT', pending: pending.map((v) => v.violationId), nextDeadline, resolutions };
}

/** Null when there is one finding for each validator of the plan, and none was skipped without right (records.md §3). */
function incompleteness(input: DecideInput): string | null {
  const { plan, findings } = input;
  for (const [i, validator] of plan.validators.entries()) {
    const finding = findings[i];
    if (finding?.validator_id !== validator.id) return `No finding of ${validator.id}`;
    const { phase, class: hookClass, logic_hash } = finding;
    if (phase !== validator.phase || hookClass !== validator.class || logic_hash !== validator.logic_hash)
      return `The finding of ${validator.id} is not of the plan's validator`;
    if (finding.status === 'SKIPPED' && !mayBeSkipped(plan, findings, i))
      return `${validator.id} was skipped without right`;
  }
  const unpassed = input.violations.find(
    (v) => v.need === 'callback' && (v.requiresConfirmation || v.callbackResult?.passed !== true),
  );
  if (unpassed !== undefined) return `No callback has passed for ${unpassed.validatorId}`;
  // Every POLICY finding that fires must stand among the violations (P5).
  const shown = new Set(input.violations.map((v) => v.findingIndex));
  const swallowed = findings.findIndex((f, i) => f.class === 'POLICY' && fires(f) && !shown.has(i));
  return swallowed === -1 ? null : `${findings[swallowed]?.validator_id ?? ''} fired and no violation says so`;
}

/** Only a judge, and only where another finding holds the change already: the plan asks it when the rules are clean. */
function mayBeSkipped(plan: Plan, findings: readonly ValidatorFinding[], index: number): boolean {
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

function resolutionOf(violation: PolicyViolation, input: DecideInput): Resolution {
  if (violation.need === 'hard') return 'hard';
  if (violation.need === 'callback') return 'callback';
  const counted = countedAnswers(violation, input);
  if (counted.some((a) => a.decision === 'reject')) return 'rejected';
  const people = new Set(counted.map((a) => a.person));
  return people.size >= violation.quorum ? 'confirmed' : 'pending';
}

/** The answers to one violation that came in time, from people who count. */
function countedAnswers(violation: PolicyViolation, input: DecideInput): readonly AdmittedAnswer[] {
  const deadline = deadlineOf(violation, input);
  return input.answers.filter(
    (a) =>
      a.violationId === violation.violationId &&
      Date.parse(a.admittedAt) < deadline &&
      counts(violation, a.person, input),
  );
}

/** When the last answer that counts was admitted; null where none does. The commit window runs from here. */
export function lastCountedAt(
  input: Pick<DecideInput, 'plan' | 'violations' | 'answers' | 'requester' | 'disclosedAt' | 'at'>,
): string | null {
  const full = { ...input, findings: [], reachable: null };
  const times = input.violations
    .filter((v) => v.need === 'human')
    .flatMap((v) => countedAnswers(v, full).map((a) => Date.parse(a.admittedAt)));
  return times.length === 0 ? null : new Date(Math.max(...times)).toISOString();
}

/** Members of the violation's group count; under four eyes the requester never does. */
function counts(violation: PolicyViolation, person: string, input: DecideInput): boolean {
  const members = input.plan.groups[violation.group]?.members ?? [];
  return members.includes(person) && !(violation.fourEyes && person === input.requester);
}

function canBeAnswered(violation: PolicyViolation, input: DecideInput): boolean {
  if (input.reachable === null) return true;
  const answered = new Set(input.answers.filter((a) => a.violationId === violation.violationId).map((a) => a.person));
  const people = new Set([...input.reachable, ...answered]);
  return [...people].filter((person) => counts(violation, person, input)).length >= violation.quorum;
}

/** In milliseconds since the epoch: as text, two spellings of one moment would compare otherwise. An answer admitted at it or later does not count. */
function deadlineOf(violation: PolicyViolation, input: DecideInput): number {
  return Math.min(Date.parse(input.disclosedAt ?? input.at) + violation.deadlineMs, LAST_DATE);
}

/** The last moment that a Date can hold. */
const LAST_DATE = 8.64e15;

/** What was found, and what the callback said of it. Its confirmation message speaks to a person, and nobody was asked. */
function hardText(violation: PolicyViolation, finding: ValidatorFinding | undefined): string {
  const said = violation.callbackResult?.message ?? null;
  return `${violation.validatorId}: ${finding?.reason ?? violation.message}${said === null ? '' : `\n${said}`}`;
}

function declinedText(rejected: readonly PolicyViolation[], input: DecideInput): string {
  return rejected
    .map((v) => {
      const no = countedAnswers(v, input).find((a) => a.decision === 'reject');
      return `${v.validatorId} declined by ${no?.person ?? 'an approver'}${no?.reason ? `: ${no.reason}` : ''}`;
    })
    .join('\n');
}
