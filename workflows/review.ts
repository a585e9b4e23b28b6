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
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { CommitResult, Settled } from '../activities/review-types';
import { inputSha } from '../policy/contracts/change-id';
import type { Submission } from '../policy/contracts/diff';
import { FailureType } from '../policy/contracts/failure-type';
import { MAX_VIOLATIONS } from '../policy/contracts/limits';
import { issuesText, read } from '../policy/contracts/plain';
import { readSubmission } from '../policy/contracts/plain-submission';
import type { PlanValidator } from '../policy/contracts/plan';
import type { ReviewOutcome, RollbackReason } from '../policy/contracts/outcome';
import type { Preflight } from '../policy/contracts/status';
import { breakerSamples } from '../policy/decide/breaker-samples';
import { errorResult } from '../policy/decide/findings';
import { cardinalityOf, matchPolicies, tooMany, type TriggeredPolicy } from '../policy/decide/violations';
import { judgeFailureResult } from '../policy/judge/failure';
import { Answering } from './answering';
import { currentDetails } from './details';
import * as messages from './messages';
import { committing, guardians, judge, judgeFailure, notices, opening, settling, sinks, staging } from './proxies';
import { Review, toProjection } from './review-state';
import { searchAttributesOf } from './search-attributes';

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
  const parsed = read(readSubmission, input, 'submission');
  if (!parsed.ok) {
    const text = issuesText(parsed.issues);
    throw ApplicationFailure.nonRetryable(
      `The start input is no submission: ${text}`,
      FailureType.Validation,
      parsed.issues,
    );
  }
  return parsed.value;
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
        reason: `The validator could not answer: ${failure.message}`.slice(0, 4000),
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

/** One activity; recorded, never asked again on replay. A judge that cannot answer adds a finding (P7). */
async function askJudge(change: Review): Promise<void> {
  for (const validator of change.plan.validators) {
    if (validator.kind !== 'attested' || validator.unit === 'builtin' || change.hasOutcome(validator.id)) continue;
    if (
      change.plan.judgeWhen === 'onlyIfClean' &&
      change.answeredFindings().some((f) => f.class === 'POLICY' && f.status !== 'ALLOW')
    ) {
      change.record(validator.id, { kind: 'skipped', reasonCode: 'judge_when' });
      continue;
    }
    const input = { ...reference(change), stagingSha: change.stagingSha, validatorId: validator.id };
    try {
      const { result } = await judge(String(validator.config['model'] ?? validator.id)).askJudge(input);
      change.record(validator.id, { kind: 'result', result });
    } catch (error) {
      if (isCancellation(error)) throw error;
      change.record(validator.id, {
        kind: 'result',
        result: await judgeFailed(change, validator, input, failureOf(error)),
      });
    }
  }
}

/** The failure is attested too; where even that cannot be had, the finding says so and the committer treats the record as missing. */
async function judgeFailed(
  change: Review,
  validator: PlanValidator,
  input: Parameters<ReturnType<typeof judge>['askJudge']>[0],
  failure: Failure,
): Promise<unknown> {
  try {
    const attested = await judgeFailure('judge failed').attestJudgeFailure({
      ...input,
      failureType: failure.type,
      message: failure.message,
    });
    return attested.result;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return judgeFailureResult({
      validatorId: validator.id,
      changeId: change.changeId,
      failureType: failure.type,
      message: failure.message,
    });
  }
}

/**
 * Discloses the violations and waits until `decide` has heard enough, the deadline passes, or the change is taken back.
 * Returns why the review ends here, or null.
 */
async function intervene(change: Review): Promise<Ending | null> {
  const triggered = matchPolicies(change.plan, change.findings(), cardinalityOf(change.staging));
  if (triggered.length > MAX_VIOLATIONS) change.overflow(triggered.length);
  if (triggered.length === 0 || change.isForbidden() || change.stopped !== null) return null;
  try {
    await disclose(change, triggered);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return undisclosed(error);
  }
  if (change.decideAt(now()).action !== 'WAIT') return null;

  change.state = 'INTERVENTION_REQUIRED';
  show(change);
  announce(change, 'intervention_required');
  await waitForAnswers(change);
  return null;
}

/** What nobody could be shown, nobody can confirm. Retried for a day before: then it is as if nobody had answered. */
function undisclosed(error: unknown): Ending {
  const { type, message, final } = failureOf(error);
  const explanation = `The violations could not be disclosed: ${message}`;
  if (type === FailureType.PolicyMoved) return { reason: 'policy_moved', explanation };
  return { reason: final ? 'commit_failed' : 'expired', explanation };
}

async function disclose(change: Review, triggered: readonly TriggeredPolicy[]): Promise<void> {
  const requester = change.opened?.requester ?? null;
  const input = {
    ...reference(change),
    stagingSha: change.stagingSha,
    requester,
    findings: change.findings(),
    triggered,
  };
  const disclosed = await opening(`${triggered.length} violation${triggered.length === 1 ? '' : 's'}`).disclose(input);
  change.violations = disclosed.violations;
  change.fingerprint = disclosed.fingerprint;
  change.disclosedAt = disclosed.disclosedAt;
  change.reachable = disclosed.reachable;
  if (tooMany(disclosed.violations))
    throw ApplicationFailure.nonRetryable('More violations than were counted', FailureType.Validation);
}

/** One durable timer at a time, to the next reminder or the next deadline, whichever comes first. */
async function waitForAnswers(change: Review): Promise<void> {
  const settled = (): boolean => change.stopped !== null || change.decideAt(now()).action !== 'WAIT';
  while (!settled()) {
    const decided = change.decideAt(now());
    if (decided.action !== 'WAIT') return;
    const untilDeadline = Math.max(1, Date.parse(decided.nextDeadline) - Date.now());
    const reminder = change.plan.remindEveryMs;
    const isReminder = reminder !== null && reminder < untilDeadline;
    const summary = isReminder ? 'next reminder' : `deadline ${decided.nextDeadline}`;
    const fired = await raceTimer(isReminder ? reminder : untilDeadline, summary, settled);
    if (fired && isReminder) announce(change, 'reminder');
  }
}

/** True when the timer fired first. A timer of its own rather than a timed condition: it is not started anew at each answer. */
async function raceTimer(ms: number, summary: string, settled: () => boolean): Promise<boolean> {
  let fired = false;
  const scope = new CancellationScope();
  const timer = scope.run(async () => {
    try {
      await sleep(ms, { summary });
      fired = true;
    } catch (error) {
      if (!isCancellation(error)) throw error;
    }
  });
  await condition(() => fired || settled());
  if (!fired) scope.cancel();
  await timer;
  return fired;
}

/** In the background: a notice that cannot be sent never moves the outcome (T63). */
function announce(change: Review, event: 'intervention_required' | 'reminder' | 'closed'): void {
  const channels = change.opened?.channels ?? [];
  if (channels.length === 0) return;
  const { changeId, submission } = change;
  const pending = change.status(now()).violations.filter((v) => v.resolution === 'pending');
  const input = {
    changeId,
    tenant: submission.tenant,
    target: submission.target,
    sourceTool: submission.sourceTool,
    event,
    pending: pending.map(({ violationId, validatorId, group, message }) => ({
      violationId,
      validatorId,
      group,
      message,
    })),
    deadlineAt: change.status(now()).deadlineAt,
    channels,
  };
  notices(event)
    .notify(input)
    .catch((error: unknown) => {
      change.warnings.push(`A notice (${event}) could not be sent`);
      log.error('A notice could not be sent', { event, error: String(error) });
    });
}

/** W5. */
const UNKNOWN_LIMIT_MS = 30 * 24 * 60 * 60_000;
const LOOK_AGAIN_MS = 10 * 60_000;

interface Ending {
  readonly reason: RollbackReason;
  readonly explanation: string;
}

/** Decides once, then commits or rolls back. */
async function settle(change: Review, skipped?: 'static_block' | 'staged_block'): Promise<void> {
  if (skipped !== undefined) change.skipRest(skipped);
  // A withdrawal that came before the decision counts more than the answers.
  if (change.stopped !== null) return rollBack(change, change.stopped, 'withdrawn');
  const decided = change.decideAt(now());
  switch (decided.action) {
    case 'COMMIT':
      return commit(change);
    case 'ROLLBACK':
      return rollBack(change, decided);
    case 'WAIT':
      throw new Error('The wait ended while an answer was missing');
    default:
      return decided satisfies never;
  }
}

async function commit(change: Review): Promise<void> {
  change.state = 'COMMITTING';
  show(change);
  const { changeId, planHash, stagingSha, fingerprint } = change;
  const input = { changeId, planHash, stagingSha, fingerprint };
  // Past this line the effect may exist: a cancellation must not leave it unsolved.
  await CancellationScope.nonCancellable(async () => {
    let result: CommitResult;
    try {
      result = await committing('commit', change.plan.commitWindowMs).commit(input);
    } catch (error) {
      result = { state: 'EFFECT_UNKNOWN', explanation: `The commit did not report: ${failureOf(error).message}` };
    }
    if (result.state === 'REFUSED') return rollBack(change, result);
    const since = Date.now();
    while (result.state === 'EFFECT_UNKNOWN') {
      if (Date.now() - since > UNKNOWN_LIMIT_MS)
        throw ApplicationFailure.nonRetryable(`Unknown for 30 days: ${result.explanation}`, FailureType.Target);
      change.state = 'EFFECT_UNKNOWN';
      show(change, result.explanation);
      // Before it looks: what an operator says meanwhile must not be lost.
      change.lookAgain = false;
      result = await settling('read the marker').reconcile(input);
      if (result.state === 'EFFECT_UNKNOWN')
        await raceTimer(LOOK_AGAIN_MS, 'an operator must resolve the effect', () => change.lookAgain);
    }
    if (result.state === 'REFUSED') return rollBack(change, result);
    return end(change, result);
  });
}

async function rollBack(
  change: Review,
  ending: Ending,
  skip?: 'static_block' | 'staged_block' | 'withdrawn',
): Promise<void> {
  if (skip !== undefined) change.skipRest(skip);
  change.state = 'COMMITTING';
  const { changeId, submission, opened, stagingSha, fingerprint } = change;
  const input = {
    changeId,
    submission: withoutInline(submission),
    inputSha: change.inputSha,
    planHash: opened?.planHash ?? null,
    stagingSha,
    fingerprint,
    mode: opened?.plan.mode ?? ('enforced' as const),
    reason: ending.reason,
    explanation: ending.explanation.slice(0, 4000),
  };
  await CancellationScope.nonCancellable(async () =>
    end(change, await settling(`roll back: ${ending.reason}`).rollback(input)),
  );
}

/** W4: state and reason are the committer's. */
async function end(change: Review, settled: Settled): Promise<void> {
  const { submission } = change;
  change.state = settled.state;
  change.reason = settled.reason;
  change.outcome = {
    changeId: change.changeId,
    state: settled.state,
    action: settled.state === 'COMMITTED' ? 'COMMIT' : 'ROLLBACK',
    reason: settled.reason,
    explanation: settled.explanation,
    mode: settled.mode,
    inputSha: change.inputSha,
    planHash: settled.planHash,
    stagingSha: settled.stagingSha,
    findings: change.answeredFindings(),
    violations: [...change.violations],
    receipt: settled.receipt,
  };
  change.preflight ??= preflightOf(change);
  show(change);
  announce(change, 'closed');
  if (submission.replyTo !== undefined) await reply(change, change.outcome);
  if (change.opened?.sinks === true) await tellSinks(change, change.outcome);
}

/** The outcome stands; a sink that is away changes nothing. Reviews opened before there were sinks know of none. */
async function tellSinks({ changeId, submission, warnings }: Review, outcome: ReviewOutcome): Promise<void> {
  const { tenant, sourceTool } = submission;
  try {
    await sinks('verdicts to the circuit breakers').recordVerdicts({
      changeId,
      tenant,
      sourceTool,
      samples: breakerSamples(outcome.findings),
    });
  } catch (error) {
    warnings.push('The circuit breakers could not be told');
    log.warn('The circuit breakers could not be told', { error: String(error) });
  }
}

/** Tells the requester's own workflow. That it is gone changes nothing here. */
async function reply(change: Review, outcome: ReviewOutcome): Promise<void> {
  const { workflowId, runId } = change.submission.replyTo ?? { workflowId: '' };
  const signal = outcome.action === 'COMMIT' ? messages.commitSignal : messages.rollbackSignal;
  try {
    await getExternalWorkflowHandle(workflowId, runId).signal(signal, {
      changeId: change.changeId,
      receipt: outcome.receipt,
      outcome,
    });
  } catch (error) {
    change.warnings.push('The requester could not be signalled');
    log.warn('The requester could not be signalled', { error: String(error) });
  }
}

function preflightOf(change: Review): Preflight {
  const findings = change.answeredFindings().map(toProjection);
  return {
    changeId: change.changeId,
    planHash: change.opened?.planHash ?? null,
    provisional: true,
    forbidden: change.isForbidden(),
    findings,
  };
}

function reference(change: Review): {
  changeId: string;
  tenant: string;
  target: string;
  sourceTool: string;
  diffSha: string;
  metadata: Submission['metadata'];
  inputSha: string;
  planHash: string;
} {
  const { tenant, target, sourceTool, diffSha, metadata } = change.submission;
  return {
    changeId: change.changeId,
    tenant,
    target,
    sourceTool,
    diffSha,
    metadata,
    inputSha: change.inputSha,
    planHash: change.planHash,
  };
}

function withoutInline(submission: Submission): Submission {
  const { inline: _inline, ...rest } = submission;
  return rest;
}

interface Failure {
  readonly type: string;
  readonly message: string;
  /** The activity said that retrying cannot help. */
  readonly final: boolean;
}

function failureOf(error: unknown): Failure {
  const cause = error instanceof ActivityFailure ? (error.cause ?? error) : error;
  if (cause instanceof ApplicationFailure)
    return { type: cause.type ?? 'unknown', message: cause.message, final: cause.nonRetryable === true };
  return {
    type: cause instanceof Error ? cause.name : 'unknown',
    message: cause instanceof Error ? cause.message : String(cause),
    final: false,
  };
}

function now(): string {
  return new Date().toISOString();
}

/** What people see in the Temporal UI: search attributes and current details. Two upserts a review that waits, one that does not. */
function show(change: Review, note?: string): void {
  setCurrentDetails(currentDetails(change.status(now()), note));
  if (change.state === 'INTERVENTION_REQUIRED' || change.outcome !== null || change.state === 'EFFECT_UNKNOWN') {
    upsertSearchAttributes(searchAttributesOf(change.status(now())));
  }
}
