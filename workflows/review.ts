/**
 * The life of one change, from top to bottom. docs/concepts.md describes it.
 *
 * W1 After a SAFETY BLOCK of the static guardians nothing is staged and no person is asked.
 * W2 Every preflight validator has an outcome before violations are disclosed; findings are in declared order.
 * W3 The decision is made once, by `decide`; after it no message changes anything.
 * W4 The result is what the committer reports with its receipt, not what this workflow asked for.
 * W5 A rejected change completes the workflow. The workflow fails only if the submission is not a valid change, or if an
 *    effect stays unknown for 30 days.
 */
import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Opened } from '../activities/review-types';
import { inputSha } from '../policy/contracts/change-id';
import { Submission, withoutInline } from '../policy/contracts/diff';
import { FailureType } from '../policy/contracts/failure-type';
import { fieldIssues, issuesText } from '../policy/contracts/issues';
import type { ReviewValidator } from '../policy/contracts/history-plan';
import { isStatic } from '../policy/contracts/readings';
import type { WorkflowOutcome } from '../policy/contracts/outcome';
import type { Preflight } from '../policy/contracts/status';
import { validatorFailedResult } from '../policy/decide/findings';
import { intervene, waitForAnswers } from './intervention';
import { failureOf } from './failure';
import { askJudge } from './judging';
import { MessageHandlers } from './message-handlers';
import type { MessageKind } from './message-bounds';
import * as messages from './messages';
import { guardians, reviewSteps, staging } from './proxies';
import { now, Review, type Carried } from './review-state';
import { preflightOf, statusOf } from './review-status';
import { resumeUnknown, rollBack, settle, type ProposedRollback } from './settling';
import { knowPublished, publishStatus, showDetails } from './reporting';

/** `carried`: the state of the run that continued as this one. */
export async function review(input: Submission, carried?: Carried): Promise<WorkflowOutcome> {
  const submission = parseSubmission(input);
  const change = new Review(workflowInfo().workflowId, inputSha(submission), submission);
  knowPublished(change);
  if (carried !== undefined) restore(change, carried);
  registerHandlers(change);
  try {
    await (carried === undefined ? run(change) : resume(change, carried));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => endCancelled(change, error));
  }
  if (change.outcome === null) throw new Error('A review must end with an outcome');
  await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  return change.outcome;
}

/**
 * A cancellation proves nothing about the change: it ends only if the rows support a rollback. Otherwise the workflow ends as
 * cancelled, without an outcome, and the change stays open in the ledger.
 */
async function endCancelled(change: Review, cancelled: unknown): Promise<void> {
  if (change.stopped !== null) return void (await rollBack(change, change.stopped));
  try {
    await rollBack(change, { reason: 'withdrawn', explanation: 'The workflow was cancelled' }, undefined, 'once');
  } catch (error) {
    log.warn('The workflow was cancelled, and the rows support no end of the change', { error: String(error) });
    throw cancelled;
  }
}

/** Checks the shape only. `openReview` checks that the workflow id is the hash of the change, and records a refusal in the ledger. */
function parseSubmission(input: unknown): Submission {
  const parsed = Submission.safeParse(input);
  if (parsed.success) return parsed.data;
  const issues = fieldIssues(parsed.error, input, 'submission');
  throw ApplicationFailure.nonRetryable(
    `Invalid workflow input: not a valid submission: ${issuesText(issues)}`,
    FailureType.Validation,
    issues,
  );
}

/** Anyone can start a workflow with this argument: an invalid one must not make the workflow task fail forever. */
function restore(change: Review, carried: Carried): void {
  try {
    const { waitsFor } = carried;
    if (waitsFor.what !== 'answers' && !(waitsFor.what === 'effect' && Number.isFinite(waitsFor.since)))
      throw new TypeError('expected `waitsFor` to be answers, or an effect and since when it is unknown');
    change.restore(carried);
    assertTimes(change);
    change.decideAt(now());
    publishStatus(change);
  } catch (error) {
    throw ApplicationFailure.nonRetryable(`Invalid carried state: ${String(error)}`, FailureType.Validation);
  }
}

/** Twice the longest deadline that a policy can set. */
const MAX_AHEAD_MS = 180 * 86_400_000;

/** Each deadline can be waited for: the server refuses to start a timer for thousands of years, in every attempt of the task. */
function assertTimes({ violations, disclosedAt }: Review): void {
  const last = Math.max(...violations.map(({ deadlineMs }) => Date.parse(disclosedAt ?? now()) + deadlineMs));
  if (last > Date.now() + MAX_AHEAD_MS)
    throw new RangeError('expected `disclosedAt` in the past, and deadlines of at most 90 days');
}

function registerHandlers(change: Review): void {
  const handlers = new MessageHandlers(change);
  // For the Temporal UI and `temporal workflow query`. Clients of ours read the ledger instead.
  setHandler(messages.statusQuery, () => statusOf(change, now()));
  // A rejection by a validator leaves no trace, so within the bounds every refusal is left to the activity, which records it.
  const bounded = (kind: MessageKind) => ({
    validator: (message?: unknown) => handlers.assertWithinBounds(kind, message),
  });
  setHandler(
    messages.submitUpdate,
    async (): Promise<Preflight> => {
      change.bounds.count('submit', null);
      await condition(() => change.preflight !== null || change.openingFailure !== null);
      if (change.preflight === null) throw change.openingFailure ?? new Error('unreachable');
      return change.preflight;
    },
    bounded('submit'),
  );
  setHandler(messages.answerUpdate, (message) => handlers.answer(message, 'update'), bounded('answer'));
  setHandler(messages.answerSignal, (message) => handlers.answerSignal(message));
  setHandler(messages.withdrawUpdate, (message) => handlers.stop('withdraw', message, 'update'), bounded('stop'));
  setHandler(messages.withdrawSignal, (message) => handlers.stopSignal('withdraw', message));
  setHandler(messages.supersedeUpdate, (message) => handlers.stop('supersede', message, 'update'), bounded('stop'));
  setHandler(messages.supersedeSignal, (message) => handlers.stopSignal('supersede', message));
  setHandler(messages.lookAgainSignal, () => handlers.lookAgain());
  setDefaultSignalHandler((name) => {
    change.received++;
    if (change.dropped++ === 0) log.warn('Ignored an unknown signal', { name: name.slice(0, 100) });
  });
}

async function run(change: Review): Promise<unknown> {
  await open(change);
  if (change.stopped !== null) return rollBack(change, change.stopped, 'withdrawn');

  await runStaticGuardians(change);
  change.preflight = preflightOf(change);
  if (change.findings.hasHardBlock()) return settle(change, 'static_block');

  const notStaged = await stage(change);
  if (notStaged !== null) return rollBack(change, notStaged, 'staged_block');
  if (change.findings.hasHardBlock()) return settle(change, 'staged_block');

  await askJudge(change);
  change.findings.complete();

  const notDisclosed = await intervene(change);
  if (notDisclosed !== null) return rollBack(change, notDisclosed);
  await settleAnswers(change);
}

/**
 * Waits for answers again if a confirmation was taken back while the commit was requested, or if the ledger had the missing answers at a
 * deadline but not those that have a later one. Each averted expiry leaves only later deadlines, so their number bounds the loop.
 */
async function settleAnswers(change: Review): Promise<void> {
  while ((await settle(change)) === 'wait') {
    change.state = 'INTERVENTION_REQUIRED';
    publishStatus(change);
    await waitForAnswers(change);
  }
}

/** Goes on where the previous run continued as this one. */
async function resume(change: Review, carried: Carried): Promise<unknown> {
  if (carried.waitsFor.what === 'effect') return resumeUnknown(change, carried.waitsFor.since);
  await waitForAnswers(change);
  await settleAnswers(change);
}

/** Resolves and pins the plan. Throws if the change cannot be opened: the workflow then fails. */
async function open(change: Review): Promise<void> {
  const { changeId, submission } = change;
  let opened: Opened;
  try {
    opened = await reviewSteps(change.localTurn, 'plan, requester and rules').openReview({ changeId, submission });
  } catch (error) {
    if (isCancellation(error)) throw error;
    change.openingFailure = openingFailure(error);
    // The caller of the update `submit` must receive the error before the workflow closes.
    await condition(allHandlersFinished);
    throw change.openingFailure;
  }
  change.open(opened);
  change.findings.recordReported(opened.reported);
  change.stopped ??= opened.stopped;
  change.title = opened.title;
  if (submission.inline !== undefined)
    change.warn('The diff was sent inline: its bytes stay in this history until the retention period ends');
  showDetails(change);
  if (submission.supersedes !== undefined) await supersede(change, submission.supersedes);
}

/** Nothing is in the ledger, so there is no outcome that could be signed. */
function openingFailure(error: unknown): ApplicationFailure {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  // Not a valid change: unknown tool, missing bytes, no plan.
  if (cause instanceof ApplicationFailure && cause.nonRetryable)
    return ApplicationFailure.nonRetryable(cause.message, cause.type, ...(cause.details ?? []));
  return ApplicationFailure.nonRetryable(
    'The review could not be opened within 24 hours. Submit it again under another requestKey',
    FailureType.Backend,
  );
}

/**
 * Closes the review that this change supersedes. None of its answers is carried over. That review reads in the ledger, where this
 * change is already opened, whether the same requester signed a submission that supersedes it. A no-op if it is already closed.
 */
async function supersede(change: Review, superseded: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(superseded).signal(messages.supersedeSignal, { by: change.changeId });
  } catch (error) {
    if (isCancellation(error)) throw error;
    change.warn(
      `The superseded review ${superseded.slice(0, 12)} could not be signalled: it is closed or does not exist`,
    );
  }
}

/** The guardians that `openReview` could not run: one activity for each unit, in parallel. Every finding must be shown. */
async function runStaticGuardians(change: Review): Promise<void> {
  const units = unitsOf(change.plan.validators.filter((v) => isStatic(v) && !change.findings.has(v.id)));
  await Promise.all([...units].map(([unit, validators]) => runUnit(change, unit, validators)));
}

function unitsOf(validators: readonly ReviewValidator[]): Map<string, ReviewValidator[]> {
  const units = new Map<string, ReviewValidator[]>();
  for (const validator of validators) {
    if (validator.unit === 'builtin') continue;
    units.set(validator.unit, [...(units.get(validator.unit) ?? []), validator]);
  }
  return units;
}

async function runUnit(change: Review, unit: string, validators: readonly ReviewValidator[]): Promise<void> {
  try {
    change.findings.recordReported(await guardians(unit).runGuardians({ changeId: change.changeId, unit }));
  } catch (error) {
    if (isCancellation(error)) throw error;
    await readRecorded(change);
    const failure = failureOf(error);
    const errorClass = failure.type === FailureType.UnknownDiffType ? 'ErrUnknownDiffType' : 'ErrValidatorBackend';
    for (const { id } of validators)
      if (!change.findings.has(id))
        change.findings.record(id, { kind: 'result', result: validatorFailedResult(id, change.changeId, errorClass) });
  }
}

/**
 * The findings that have rows. The last attempt may have written its row before it was lost, and the committer ends no review for a
 * finding that the rows contradict.
 */
async function readRecorded(change: Review): Promise<void> {
  const { changeId, submission } = change;
  try {
    const opened = await guardians('recorded findings').openReview({ changeId, submission: withoutInline(submission) });
    change.findings.recordReported(opened.reported);
  } catch (error) {
    if (isCancellation(error)) throw error;
    change.warn(`The recorded findings could not be read: ${failureOf(error).message}`);
  }
}

/** The dry run, on the committer's queue. Returns the reason if the review ends here, else null. */
async function stage(change: Review): Promise<ProposedRollback | null> {
  try {
    const staged = await staging('dry run').stage({ changeId: change.changeId });
    switch (staged.kind) {
      case 'staged':
        change.cardinality = staged.cardinality;
        change.stagingSha = staged.stagingSha;
        change.title = staged.title;
        change.findings.recordReported(staged.reported);
        return null;
      case 'refused':
        return { reason: 'forbidden', explanation: staged.explanation };
      case 'rejected':
        return staged.stale === true
          ? { reason: 'stale_base', explanation: staged.explanation }
          : { reason: 'commit_failed', explanation: `The target rejected the change: ${staged.explanation}` };
      default:
        return staged satisfies never;
    }
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { type, message } = failureOf(error);
    return {
      reason: type === FailureType.PolicyMoved ? 'policy_moved' : 'commit_failed',
      explanation: `The dry run failed: ${message}`,
    };
  }
}
