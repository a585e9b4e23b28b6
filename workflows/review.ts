/**
 * The life of one change (DESIGN §3), read from top to bottom.
 *
 * W1 Nothing is staged after a SAFETY BLOCK of the static guardians, and nobody is asked.
 * W2 Every preflight validator has an outcome before violations are disclosed; findings stand in declared order.
 * W3 The decision is made once, by `decide`; after it no message changes anything.
 * W4 What ended is what the committer says: its receipt, not this workflow's wish.
 * W5 A rejected change completes the workflow. It fails only where the submission was no change at all, or an effect
 *    stayed unknown for 30 days.
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
import { inputSha } from '../policy/contracts/change-id';
import { Submission } from '../policy/contracts/diff';
import { FailureType } from '../policy/contracts/failure-type';
import { fieldIssues, issuesText } from '../policy/contracts/issues';
import type { PlanValidator } from '../policy/contracts/plan';
import type { ReviewOutcome } from '../policy/contracts/outcome';
import type { Preflight } from '../policy/contracts/status';
import { errorResult } from '../policy/decide/findings';
import { Answering } from './answering';
import { intervene } from './asking';
import { failureOf } from './failure';
import { askJudge } from './judging';
import * as messages from './messages';
import { guardians, opening, staging } from './proxies';
import { now, preflightOf, reference, Review } from './review-state';
import { rollBack, settle, type Ending } from './settling';
import { show } from './telling';
import { MAX_REASON_LENGTH } from '../policy/contracts/limits';
import { cutText } from '../policy/text/cut-text';

export async function review(input: Submission): Promise<ReviewOutcome> {
  const submission = parseSubmission(input);
  const change = new Review(workflowInfo().workflowId, inputSha(submission), submission);
  listen(change);
  try {
    await run(change);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    const explanation = 'The workflow was cancelled';
    await CancellationScope.nonCancellable(() =>
      rollBack(change, change.stopped ?? { reason: 'withdrawn', explanation }),
    );
  }
  if (change.outcome === null) throw new Error('A review ends with an outcome');
  await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  return change.outcome;
}

/** Its shape. That the workflow's id is the change's own hash is for `openReview` to say: a refusal then stands in the ledger. */
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

function listen(change: Review): void {
  const answering = new Answering(change);
  setHandler(messages.statusQuery, () => change.status(now()));
  setHandler(messages.evidenceQuery, () => change.evidence());
  setHandler(messages.submitUpdate, async (): Promise<Preflight> => {
    await condition(() => change.preflight !== null || change.unopened !== null);
    if (change.preflight === null) throw change.unopened ?? new Error('unreachable');
    return change.preflight;
  });
  // No validator: what one refuses leaves no trace, and every refused attempt stands in the ledger (P8).
  setHandler(messages.answerUpdate, (message) => answering.answer(message, 'update'));
  setHandler(messages.answerSignal, (message) => answering.answerSignal(message));
  setHandler(messages.withdrawUpdate, (message) => answering.withdraw(message));
  setHandler(messages.withdrawSignal, (message) => void answering.withdraw(message));
  setHandler(messages.supersedeUpdate, (message) => answering.supersede(message));
  setHandler(messages.supersedeSignal, (message) => void answering.supersede(message));
  setHandler(messages.lookAgainSignal, () => void (change.lookAgain = true));
  setDefaultSignalHandler((name) => log.warn('A signal that this workflow does not know was ignored', { name }));
}

async function run(change: Review): Promise<void> {
  if (!(await open(change))) return;

  await runStaticGuardians(change);
  change.preflight = preflightOf(change);
  if (change.isForbidden()) return settle(change, 'static_block');

  const staged = await stage(change);
  if (staged !== null) return rollBack(change, staged, 'staged_block');
  if (change.isForbidden()) return settle(change, 'staged_block');

  await askJudge(change);
  change.complete();

  const silenced = await intervene(change);
  if (silenced !== null) return rollBack(change, silenced);
  await settle(change);
}

/** Resolves and pins the plan. False where the review ended here. */
async function open(change: Review): Promise<boolean> {
  const { changeId, submission } = change;
  try {
    change.opened = await opening('plan and requester').openReview({ changeId, submission });
  } catch (error) {
    if (isCancellation(error)) throw error;
    const cause = error instanceof ActivityFailure ? error.cause : error;
    // Not a change at all: unknown tool, missing bytes, no plan. Fails loudly, before any work.
    if (cause instanceof ApplicationFailure && cause.nonRetryable) {
      change.unopened = ApplicationFailure.nonRetryable(cause.message, cause.type, ...(cause.details ?? []));
      // The sender of `submit` hears why, before the workflow closes under its call.
      await condition(allHandlersFinished);
      throw change.unopened;
    }
    await rollBack(change, { reason: 'expired', explanation: 'The review could not be opened in 24 hours' });
    return false;
  }
  change.recordResults(change.opened.results);
  if (submission.inline !== undefined)
    change.warnings.push('The diff was sent inline: its bytes stay in this history until retention');
  show(change);
  if (submission.supersedes !== undefined) await takePlaceOf(change, submission.supersedes);
  return true;
}

/** Closes the review that this change supersedes; it keeps no answer of it. That it is over already changes nothing. */
async function takePlaceOf(change: Review, superseded: string): Promise<void> {
  const actor = change.opened?.requester ?? 'unknown requester';
  try {
    await getExternalWorkflowHandle(superseded).signal(messages.supersedeSignal, {
      by: change.changeId,
      actor,
      reason: 'superseded',
    });
  } catch (error) {
    if (isCancellation(error)) throw error;
    change.warnings.push(
      `The superseded review ${superseded.slice(0, 12)} could not be told: it is over, or was never there`,
    );
  }
}

/** One activity for each unit, all at once: nothing is short-circuited, so every finding is shown (P5). */
async function runStaticGuardians(change: Review): Promise<void> {
  const units = unitsOf(
    change.plan.validators.filter((v) => v.kind === 'derived' && !v.needsStaging && v.phase === 'preflight'),
  );
  await Promise.all([...units].map(([unit, validators]) => runUnit(change, unit, validators)));
}

function unitsOf(validators: readonly PlanValidator[]): Map<string, PlanValidator[]> {
  const units = new Map<string, PlanValidator[]>();
  for (const validator of validators) {
    if (validator.unit === 'builtin') continue;
    units.set(validator.unit, [...(units.get(validator.unit) ?? []), validator]);
  }
  return units;
}

async function runUnit(change: Review, unit: string, validators: readonly PlanValidator[]): Promise<void> {
  try {
    change.recordResults(await guardians(unit).runGuardians({ ...reference(change), unit }));
  } catch (error) {
    if (isCancellation(error)) throw error;
    const failure = failureOf(error);
    for (const { id } of validators) {
      const result = errorResult(id, change.changeId, {
        errorClass: failure.type === FailureType.UnknownDiffType ? 'ErrUnknownDiffType' : 'ErrValidatorBackend',
        reason: cutText(`The validator could not answer: ${failure.message}`, MAX_REASON_LENGTH),
        reasonCode: 'validator_failed',
        reproducible: false,
      });
      change.record(id, { kind: 'result', result });
    }
  }
}

/** The dry run, on the committer's queue. Returns why the review ends here, or null. */
async function stage(change: Review): Promise<Ending | null> {
  try {
    const staged = await staging('dry run').stage(reference(change));
    switch (staged.kind) {
      case 'staged':
        change.staging = staged.record;
        change.stagingSha = staged.stagingSha;
        change.recordResults(staged.results);
        return null;
      case 'refused':
        return { reason: 'forbidden', explanation: staged.explanation };
      case 'rejected':
        return { reason: 'commit_failed', explanation: `The target refuses the change: ${staged.explanation}` };
      default:
        return staged satisfies never;
    }
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { type, message } = failureOf(error);
    return {
      reason: type === FailureType.PolicyMoved ? 'policy_moved' : 'commit_failed',
      explanation: `The dry run could not be done: ${message}`,
    };
  }
}
