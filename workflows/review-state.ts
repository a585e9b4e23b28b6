import type { ApplicationFailure } from '@temporalio/common';
import type { Disclosed, Opened } from '../activities/review-types';
import type { AdmittedAnswer, AnswerResults } from '../policy/contracts/answer';
import type { Submission } from '../policy/contracts/diff';
import { ReviewState, type RollbackReason, type WorkflowOutcome } from '../policy/contracts/outcome';
import { fromHistoryPlan, type ReviewPlan } from '../policy/contracts/history-plan';
import type { Cardinality } from '../policy/contracts/plan';
import type { Preflight } from '../policy/contracts/status';
import type { PolicyViolation } from '../policy/contracts/violation';
import { decide, type Decided } from '../policy/decide/decide';
import { buildViolations, type TriggeredPolicy } from '../policy/decide/violations';
import { NO_REFUSALS, withRefused, type Refusals } from './answer-lines';
import type { Claim, ClaimNames } from './claimed-answer';
import { Findings, type CarriedFindings } from './findings';
import { MessageBounds, type Counts } from './message-bounds';
import { LocalTurn } from './local-turn';
import { clip } from '../policy/text/cut-text';

const MAX_WARNINGS = 50;
export const MAX_TITLE = 120;

/** Members that a run hands to the next one as they are. */
const CARRIED = [
  'state',
  'stagingSha',
  'cardinality',
  'preflight',
  'violations',
  'fingerprint',
  'disclosedAt',
  'reachable',
  'title',
  'keyOwners',
  'refusals',
  'dropped',
] as const satisfies readonly (keyof Review)[];
type CarriedMembers = Readonly<Pick<Review, (typeof CARRIED)[number]>>;

/** The state of a review that continues as a new run, because the history of this one became long. */
export interface Carried extends CarriedMembers, CarriedFindings {
  readonly waitsFor: { readonly what: 'answers' } | { readonly what: 'effect'; readonly since: number };
  readonly opened: Opened;
  readonly warnings: readonly string[];
  readonly answers: readonly AdmittedAnswer[];
  readonly counts: Counts;
}

function pick(from: CarriedMembers): CarriedMembers {
  return Object.fromEntries(CARRIED.map((name) => [name, from[name]])) as unknown as CarriedMembers;
}

/**
 * The state of one review, shared by the handlers and the main function. It decides nothing itself; `decide` does.
 *
 * `state` only moves forward, except that a commit which was refused because a confirmation was taken back waits again. In COMMITTING
 * an answer or a withdrawal can only make the committer refuse the commit.
 */
export class Review {
  state: ReviewState = 'RUNNING';
  reason: RollbackReason | null = null;
  opened: Opened | null = null;
  stagingSha: string | null = null;
  /** Rows that the dry run changed, one or several; null if unknown. */
  cardinality: Cardinality | null = null;
  /** Set if the submission is not a valid change; the workflow fails with it. */
  openingFailure: ApplicationFailure | null = null;
  /** Set when the static guardians are done. */
  preflight: Preflight | null = null;
  violations: readonly PolicyViolation[] = [];
  fingerprint: string | null = null;
  disclosedAt: string | null = null;
  reachable: readonly string[] = [];
  /** Person by key id, for the Temporal UI. */
  keyOwners: Readonly<Record<string, string>> = {};
  refusals: Refusals = NO_REFUSALS;
  /** What the Temporal UI has of this review. */
  readonly published = { texts: new Map<string, string>(), refusals: 0 };
  #title = '';
  /** True while the disclosure runs. The ledger may contain the violations before this workflow receives the result. */
  disclosing = false;
  outcome: WorkflowOutcome | null = null;
  /** Why the review ends without a decision: the ledger has the change as withdrawn, superseded or closed. */
  stopped: { readonly reason: RollbackReason; readonly explanation: string } | null = null;
  /** Set before the rollback is requested: from then on no message can change the outcome. */
  rollingBack = false;
  /** Set by a signal: read the ledger again while answers are missing, or the target while the effect is unknown. */
  lookAgain = false;
  readonly warnings: string[] = [];
  bounds = new MessageBounds(() => Date.now());
  readonly localTurn = new LocalTurn();
  /** False if the state is too large for a new run: this run then goes on to the server's limits. */
  mayContinue = true;
  /** Messages that reached this run. */
  received = 0;
  /** Signals that were not handled, because they are unknown or past a bound. */
  dropped = 0;
  readonly #answers = new Map<string, AdmittedAnswer>();
  #findings: Findings | null = null;
  /** `decide` waits at least until then unless an answer is admitted; null if it must be asked. Milliseconds since 1970. */
  #waitsUntil: number | null = null;

  constructor(
    readonly changeId: string,
    readonly inputSha: string,
    readonly submission: Submission,
  ) {}

  open(opened: Opened): void {
    const { inputSha } = this;
    const { tenant, target, sourceTool } = this.submission;
    const { requester, openedAt } = opened;
    const waiving = { context: { tenant, target, sourceTool, requester, inputSha }, at: openedAt };
    this.opened = opened;
    this.#findings = new Findings(fromHistoryPlan(opened.plan), this.changeId, waiving);
  }

  get findings(): Findings {
    if (this.#findings === null) throw new Error('The findings were read before the plan was resolved');
    return this.#findings;
  }

  get plan(): ReviewPlan {
    return this.findings.plan;
  }

  get planHash(): string {
    return this.#opened().planHash;
  }

  #opened(): Opened {
    if (this.opened === null) throw new Error('The plan was read before it was resolved');
    return this.opened;
  }

  /** Everything that the next run of this workflow needs. Only while the review waits: no activity is running then. */
  carry(waitsFor: Carried['waitsFor']): Carried {
    return {
      ...pick(this),
      waitsFor,
      opened: this.#opened(),
      warnings: this.warnings,
      answers: this.answers(),
      ...this.findings.carry(),
      counts: this.bounds.counts(),
    };
  }

  /** The inverse of `carry`. What was carried is no more trusted than any message: the committer verifies the review. */
  restore(carried: Carried): void {
    // Not `parse`, which throws for every value in a worker (preload.ts).
    if (!ReviewState.safeParse(carried.state).success) throw new TypeError('expected `state` to be that of a review');
    Object.assign(this, pick(carried));
    this.open(carried.opened);
    this.warnings.push(...carried.warnings);
    this.admit(carried.answers);
    this.findings.restore(carried);
    this.bounds = new MessageBounds(() => Date.now(), carried.counts);
  }

  /** What the change does; empty while it is unknown. Text of others: escape it where it is shown, and not before, as it is carried. */
  get title(): string {
    return this.#title;
  }

  set title(title: unknown) {
    this.#title = typeof title === 'string' ? clip(title, MAX_TITLE) : '';
  }

  /** What the claims of an answer are compared with. */
  names(): ClaimNames {
    return { keyOwners: this.keyOwners, violations: this.violations };
  }

  /** Keeps the refused answers of a message for the Temporal UI. */
  keepRefusals(claims: readonly Claim[], results: AnswerResults): void {
    this.refusals = withRefused(this.refusals, claims, results);
  }

  /** Adds a warning to status and UI, each text once and at most MAX_WARNINGS. */
  warn(text: string): void {
    if (!this.warnings.includes(text) && this.warnings.length < MAX_WARNINGS) this.warnings.push(text);
  }

  /** What people are asked from now on. Every reader builds the violations from the same sources. */
  disclose(triggered: readonly TriggeredPolicy[], { callbackResults, ...disclosed }: Disclosed): void {
    const { plan, planHash, inputSha } = this;
    const { requester } = this.#opened();
    const findings = this.findings.all();
    this.violations = buildViolations({ plan, planHash, inputSha, findings, triggered, callbackResults, requester });
    this.fingerprint = disclosed.fingerprint;
    this.disclosedAt = disclosed.disclosedAt;
    this.reachable = disclosed.reachable;
    this.keyOwners = disclosed.keyOwners;
  }

  admit(answers: readonly AdmittedAnswer[]): void {
    this.#waitsUntil = null;
    for (const answer of answers) this.#answers.set(answer.digest, answer);
  }

  answers(): AdmittedAnswer[] {
    return [...this.#answers.values()];
  }

  /**
   * Whether `decide` waits for answers. Called after each message of an activation: a replay can have thousands of them, and a
   * workflow that takes more than `isolateExecutionTimeout` for an activation takes its worker down. So it decides again only
   * after an answer was admitted or the next deadline has passed.
   */
  stillWaits(): boolean {
    if (this.#waitsUntil !== null && Date.now() < this.#waitsUntil) return true;
    const decided = this.decideAt(now());
    this.#waitsUntil = decided.action === 'WAIT' ? Date.parse(decided.nextDeadline) : null;
    return decided.action === 'WAIT';
  }

  decideAt(at: string): Decided {
    return decide({
      plan: this.plan,
      findings: this.findings.all(),
      violations: this.violations,
      answers: this.answers(),
      requester: this.#opened().requester,
      reachable: this.fingerprint === null ? null : this.reachable,
      disclosedAt: this.disclosedAt,
      at,
    });
  }

  /** True while no decision was made. */
  isWaiting(): boolean {
    return this.state === 'RUNNING' || this.state === 'INTERVENTION_REQUIRED';
  }

  /**
   * True if no message can change the outcome any more. While a commit is requested, one still can: whether the commit has begun is
   * known to the ledger only.
   */
  isClosed(): boolean {
    return this.rollingBack || this.outcome !== null;
  }

  /** True once the ledger has the change as opened, or never will: only then can a message be compared with its rows. */
  isOpeningDone(): boolean {
    return this.opened !== null || this.openingFailure !== null || this.isClosed();
  }

  environment(): 'development' | 'production' {
    return this.opened?.plan.development === true ? 'development' : 'production';
  }
}

export function now(): string {
  return new Date().toISOString();
}
