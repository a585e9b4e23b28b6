/**
 * What the rows must contain to support the reason of a rollback. The committer reads this table before it signs a receipt, with `live`;
 * `verify` reads it again offline, without.
 *
 * W1 A reason that the rows do not support is never signed, regardless of what the workflow asks for.
 * W2 The explanation comes from the rows and from `decide`, never from the workflow.
 * W3 Every open review reaches a reason that is supported: answers expire, a worker records that a step failed permanently, and a
 *    step without a row after its time-out counts as failed.
 */
import {
  EFFECT_UNKNOWN,
  HISTORY_DAMAGED,
  NOTHING_APPLIED,
  STEP_FAILED,
  type FailedStep,
  type LedgerRow,
} from '../../policy/contracts/ledger';
import { MAX_VIOLATIONS } from '../../policy/contracts/limits';
import { STEP_MS } from '../../policy/contracts/step-times';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import type { RollbackReason } from '../../policy/contracts/outcome';
import type { Plan } from '../../policy/contracts/plan';
import { decide, lastCountedAt, type DecideInput, type Decided } from '../../policy/decide/decide';
import { COMPUTED_BY_ASSEMBLY, CONTRACT_VIOLATION } from '../../policy/decide/findings';
import { isJudge } from '../../policy/contracts/readings';
import { DisclosedRow } from '../../policy/evidence/disclosed-findings';
import { openEnvelope } from '../../policy/evidence/dsse';
import { findingsOfRow } from '../../policy/evidence/unreadable-rows';

/** A review that is to be rolled back, or was. */
export interface Ending {
  /** The rows before the settlement. */
  readonly rows: readonly LedgerRow[];
  /** Whether a commit had begun. */
  readonly begun: boolean;
  /** ISO 8601. */
  readonly at: string;
  readonly plan: Plan | null;
  readonly findings: readonly ValidatorFinding[] | null;
  /** The result of `decide` for verified findings and answers; null if they cannot be verified. */
  readonly decided: Decided | null;
  /** How many violations the findings trigger. */
  readonly triggered: number;
  /**
   * The input of `decide` with the confirmations that counted until their key was revoked: they explain that a commit could have begun,
   * but support none. Null if it cannot be verified.
   */
  readonly given: DecideInput | null;
  /** What only the committer knows, at the time of the rollback; null in an evidence file. */
  readonly live: {
    /** Why the plan can no longer be used; null if it can. */
    readonly policyMoved: string | null;
    /** Why a commit is refused now; null if it would not be, or was not asked for. */
    readonly refusal: {
      readonly check: string;
      readonly explanation: string;
      /** Whether an accepted answer no longer counts, e.g. because its key was revoked. */
      readonly discounted: boolean;
    } | null;
  } | null;
}

/** The explanation if the reason is supported, else null. */
type Support = (ending: Ending) => string | null;

export const ROLLBACK_SUPPORT: { readonly [R in RollbackReason]: Support } = {
  withdrawn: (ending) => stoppedBy(ending, 'withdrawn'),
  superseded: (ending) => stoppedBy(ending, 'superseded'),
  declined: ({ decided }) => decidedAs(decided, 'declined'),
  expired: (ending) => {
    const expired = decidedAs(ending.decided, 'expired');
    if (expired !== null) return expired;
    return !has(ending, 'disclosed') && sinceRow(ending, openingOf(ending)) >= STEP_MS.review
      ? 'The review was not ready for answers within 24 hours'
      : null;
  },
  /** A finding of the guardians, computed again by the committer, an attested one, or what the committer found before the dry run. */
  forbidden: (ending) =>
    decidedAs(ending.decided, 'forbidden') ??
    (ending.triggered > MAX_VIOLATIONS
      ? `The change has ${ending.triggered} violations, more than the maximum of ${MAX_VIOLATIONS}`
      : null) ??
    refusedText(ending, 'stage') ??
    silence(ending),
  contract_violation: (ending) =>
    ending.findings?.some((f) => f.validator_id === CONTRACT_VIOLATION && f.status === 'BLOCK') === true
      ? decidedAs(ending.decided, 'contract_violation')
      : silence(ending),
  no_handler: ({ decided }) => decidedAs(decided, 'no_handler'),
  policy_moved: ({ decided, live }) =>
    // Offline it is not known which plans the committer could compile.
    decidedAs(decided, 'policy_moved') ?? (live === null ? 'The plan could no longer be used' : live.policyMoved),
  commit_refused: (ending) => {
    const row = ending.rows.findLast((r) => r.kind === 'refused' && isCommitCheck(r.body['check']));
    if (row === undefined) return null;
    if (ending.live === null) return textOf(row);
    const { refusal } = ending.live;
    return refusal === null || mayStillPass(ending, refusal) ? null : `${refusal.check}: ${refusal.explanation}`;
  },
  commit_failed: (ending) => {
    if (ending.begun) return 'The commit had begun';
    if (!isDisclosed(ending)) {
      const rejected = rejectedDryRun(ending);
      if (rejected !== undefined)
        return rejected.body['stale'] === true ? null : `The target rejected the change: ${textOf(rejected)}`;
      const failed = failureOf(ending, 'stage');
      if (failed !== null) return `The dry run failed: ${failed}`;
      const undisclosed = failureOf(ending, 'disclose');
      if (undisclosed !== null) return `The violations could not be disclosed: ${undisclosed}`;
      if (!has(ending, 'staged') && sinceRow(ending, lastStaticOf(ending)) >= STEP_MS.dryRun)
        return 'The dry run did not succeed in time';
    }
    const failed = failuresOf(ending, 'commit').at(-1);
    if (failed !== undefined && ending.given !== null && lastApproval(ending.given) !== null)
      return `The commit failed before it began: ${textOf(failed)}`;
    return windowHasPassed(ending) ? 'The change was not committed within the commit window' : null;
  },
  stale_base: (ending) => {
    // The marker of the target decides, and the committer records the reason before it seals it.
    if (ending.begun) return 'The target had changed';
    const rejected = rejectedDryRun(ending);
    return rejected?.body['stale'] === true && !isDisclosed(ending)
      ? `The target had changed before the dry run: ${textOf(rejected)}`
      : null;
  },
  post_failed: ({ begun }) => (begun ? 'A post validator refused the effect' : null),
  /** Written by the reconciler before it ends the review. */
  workflow_lost: ({ rows }) =>
    textIn(rows.findLast(({ kind, body }) => kind === 'repaired' && body['did'] === 'ended')),
};

/** Strongest first: what the committer signs if the reason that was asked for is not supported. */
export const BY_STRENGTH: readonly RollbackReason[] = [
  'forbidden',
  'contract_violation',
  'withdrawn',
  'superseded',
  'declined',
  'policy_moved',
  'no_handler',
  'expired',
  'stale_base',
  'commit_failed',
  'commit_refused',
];

/** Value of `check` in the row `refused` of a rollback whose reason is not supported. */
export const UNSUPPORTED_ROLLBACK = 'rollback';

/** Values of `check` in rows `refused` that do not prove that a commit was refused. */
const NOT_OF_A_COMMIT: ReadonlySet<unknown> = new Set([
  NOTHING_APPLIED,
  EFFECT_UNKNOWN,
  HISTORY_DAMAGED,
  UNSUPPORTED_ROLLBACK,
  STEP_FAILED,
  'stage',
  'target_frozen',
]);

function isCommitCheck(check: unknown): boolean {
  return typeof check === 'string' && !NOT_OF_A_COMMIT.has(check) && !check.includes(': ');
}

function decidedAs(decided: Decided | null, reason: RollbackReason): string | null {
  return decided?.action === 'ROLLBACK' && decided.reason === reason ? decided.explanation : null;
}

/** The check `withdrawal` verifies the statement in the row. */
function stoppedBy({ rows }: Ending, kind: 'withdrawn' | 'superseded'): string | null {
  return textIn(rows.find((row) => row.kind === kind));
}

function refusedText({ rows }: Ending, check: string): string | null {
  return textIn(rows.find(({ kind, body }) => kind === 'refused' && body['check'] === check));
}

function textOf({ body }: LedgerRow): string {
  return String(body['explanation'] ?? '');
}

function textIn(row: LedgerRow | undefined): string | null {
  return row === undefined ? null : textOf(row);
}

function has({ rows }: Ending, kind: LedgerRow['kind']): boolean {
  return rows.some((row) => row.kind === kind);
}

/** A row `disclosed` that cannot be read discloses nothing to anyone. */
function isDisclosed({ rows }: Ending): boolean {
  const row = rows.find(({ kind }) => kind === 'disclosed');
  return row !== undefined && DisclosedRow.safeParse(row.body).success;
}

/** Another attempt, which Temporal had given up, can record its dry run after the one that the workflow knows. */
function rejectedDryRun({ rows }: Ending): LedgerRow | undefined {
  return rows.find(({ kind, body }) => kind === 'staged' && body['rejected'] === true);
}

/** Milliseconds since this row; NaN, which passes no bound, without one. */
function sinceRow({ at }: Ending, row: LedgerRow | undefined): number {
  return Date.parse(at) - Date.parse(row?.at ?? '');
}

function openingOf({ rows }: Ending): LedgerRow | undefined {
  return rows.find(({ kind }) => kind === 'submitted');
}

/**
 * The first row with which each static validator has answered: the dry run begins after it. Later ones give it no more time, so that
 * findings which are written again do not keep the review open.
 */
function lastStaticOf(ending: Ending): LedgerRow | undefined {
  return ending.rows.find(
    ({ kind }, i, rows) =>
      (kind === 'submitted' || kind === 'findings') && isComplete({ ...ending, rows: rows.slice(0, i + 1) }, 'static'),
  );
}

/** A validator that failed permanently, or has not answered within the time-out of its step, cannot allow the change. */
function silence(ending: Ending): string | null {
  if (isComplete(ending, 'all') || has(ending, 'disclosed')) return null;
  const ended = isComplete(ending, 'static') ? judgeHasEnded(ending) : guardiansHaveEnded(ending);
  return ended ? decidedAs(ending.decided, 'contract_violation') : null;
}

function guardiansHaveEnded(ending: Ending): boolean {
  const failed = failuresOf(ending, 'runGuardians').map(({ body }) => body['unit']);
  return isComplete(ending, 'static', failed) || sinceRow(ending, openingOf(ending)) >= STEP_MS.guardians;
}

/** False without a dry run: a dry run that failed ends the review as `commit_failed`. Its validators have answered when it has its row. */
function judgeHasEnded(ending: Ending): boolean {
  const staged = ending.rows.findLast(({ kind, body }) => kind === 'staged' && body['rejected'] !== true);
  return sinceRow(ending, staged) >= STEP_MS.judge + STEP_MS.judgeFailure;
}

/** The rows in which a worker recorded that this step failed permanently. */
function failuresOf({ rows }: Ending, step: FailedStep): readonly LedgerRow[] {
  return rows.filter(({ kind, body }) => kind === 'refused' && body['check'] === STEP_FAILED && body['step'] === step);
}

function failureOf(ending: Ending, step: FailedStep): string | null {
  return textIn(failuresOf(ending, step).at(-1));
}

/** Whether each validator has answered: all of them, or those that run before the dry run. Those of a unit in `except` need not have. */
function isComplete({ plan, rows }: Ending, which: 'all' | 'static', except: readonly unknown[] = []): boolean {
  if (plan === null) return false;
  const subjects = rows.flatMap((row) => {
    if (row.kind === 'findings') return findingsOfRow(row)?.map((f) => f.validator_id) ?? [];
    if (row.kind !== 'attested') return [];
    const opened = openEnvelope('attested', row.body['envelope']);
    return opened.ok ? [opened.statement.predicate.subject] : [];
  });
  return plan.validators.every((validator) => {
    const later = validator.kind === 'attested' || validator.needsStaging || validator.phase !== 'preflight';
    if (COMPUTED_BY_ASSEMBLY.has(validator.id) || (which === 'static' && later)) return true;
    if (except.includes(validator.unit)) return true;
    return subjects.includes(validator.id) || (isJudge(validator) && plan.judgeWhen === 'onlyIfClean');
  });
}

/** Whether the refusal may end by itself: a review that still runs, or an answer that is still missing. */
function mayStillPass(
  ending: Ending,
  { check, discounted }: { readonly check: string; readonly discounted: boolean },
): boolean {
  if (!has(ending, 'disclosed') && (!isComplete(ending, 'all') || ending.triggered > 0)) return true;
  return check === 'decision' && ending.decided?.action === 'WAIT' && !discounted;
}

/** Whether everything was decided for a commit, which then did not begin within the plan's commit window. */
function windowHasPassed({ given, plan, rows, at }: Ending): boolean {
  const approval = given === null ? null : lastApproval(given);
  if (approval === null || plan === null) return false;
  const last = rows.findLast(({ kind }) => ['findings', 'attested', 'staged', 'disclosed'].includes(kind));
  return Date.parse(at) >= Date.parse(lastCountedAt(approval) ?? last?.at ?? '') + plan.commitWindowMs;
}

/**
 * The input of `decide` up to the last confirmation with which it gave a commit; null if it never did. What was taken back since, while
 * the committer did not run, does not change that a commit could have begun, and the workflow can do nothing but roll back. A reject
 * does, whenever it came.
 */
function lastApproval(given: DecideInput): DecideInput | null {
  const confirmed = given.answers.filter(({ decision }) => decision === 'confirm');
  const times = [0, ...new Set(confirmed.map(({ admittedAt }) => Date.parse(admittedAt)))].sort((a, b) => b - a);
  for (const time of times) {
    const answers = given.answers.filter((a) => a.decision === 'reject' || Date.parse(a.admittedAt) <= time);
    if (decide({ ...given, answers }).action === 'COMMIT') return { ...given, answers };
  }
  return null;
}
