import {
  getExternalWorkflowHandle,
  log,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Submission } from '../policy/contracts/diff';
import type { WorkflowOutcome } from '../policy/contracts/outcome';
import type { ReviewStatus } from '../policy/contracts/status';
import { answerLines, asText } from './answer-lines';
import { currentDetails } from './details';
import * as messages from './messages';
import { plainLine } from '../policy/text/plain-line';
import { MAX_TITLE, now, type Review } from './review-state';
import { statusOf } from './review-status';
import { searchAttributesOf } from '../policy/contracts/search-attributes';

/**
 * Updates what the Temporal UI shows: current details, search attributes and, if people answered, the memo. Attributes and memo
 * write an event, so only if they changed.
 */
export function publishStatus(change: Review, note: string | null = null): void {
  const status = showDetails(change, note);
  const title = plainLine(change.title, MAX_TITLE);
  const changed = searchAttributesOf(status, title).filter(({ key, value }) => isNew(change, key.name, value));
  if (changed.length > 0) upsertSearchAttributes(changed);
  const { refusals, outcome } = change;
  const answers = change.answers();
  if (answers.length === 0 && refusals.count === 0) return;
  const { answered, refused } = answerLines({ answers, refusals, violations: change.violations }, asText);
  const memo = Object.entries({ title, answers: answered, refused, outcome: outcomeLine(outcome) });
  const changedFields = memo.filter(([name, value]) => isNew(change, `memo.${name}`, value));
  if (changedFields.length > 0) upsertMemo(Object.fromEntries(changedFields));
}

/** Updates the current details only, which writes no event. */
export function showDetails(change: Review, note: string | null = null): ReviewStatus {
  const status = statusOf(change, now());
  setCurrentDetails(detailsOf(change, status, note));
  return status;
}

/** Past it, refused answers are shown with the next one that is admitted: each one published writes an event. */
const MAX_PUBLISHED_REFUSALS = 20;

/** After an answer was verified. A review that does not wait, or waits no longer, publishes its state at its next step. */
export function publishAnswers(change: Review, admitted: number): void {
  if (!change.isWaiting() || (admitted > 0 && !change.stillWaits())) return;
  if (admitted === 0 && change.published.refusals++ >= MAX_PUBLISHED_REFUSALS) return;
  publishStatus(change);
}

function detailsOf(change: Review, status: ReviewStatus, note: string | null): string {
  const { title, refusals, outcome } = change;
  return currentDetails(status, {
    title,
    answers: change.answers(),
    refusals,
    note: outcome === null ? note : outcome.explanation,
  });
}

function outcomeLine(outcome: WorkflowOutcome | null): string | null {
  if (outcome === null) return null;
  const { state, reason, explanation } = outcome;
  return plainLine(`${state}${reason === null ? '' : ` (${reason})`}: ${explanation}`, 600);
}

/**
 * The client sets some attributes at the start, and a run that continues another one has those of that run. The memo has no field for
 * refused answers or the outcome until there are any.
 */
export function knowPublished({ published }: Review): void {
  published.texts.set('memo.refused', JSON.stringify([])).set('memo.outcome', JSON.stringify(null));
  for (const { key, value } of workflowInfo().typedSearchAttributes.getAll())
    published.texts.set(key.name, JSON.stringify(value));
}

function isNew({ published }: Review, name: string, value: unknown): boolean {
  const text = JSON.stringify(value);
  if (published.texts.get(name) === text) return false;
  published.texts.set(name, text);
  return true;
}

/** Signals the requester's own workflow. A failure is a warning and never changes the outcome. */
export async function signalRequester(
  change: Review,
  { workflowId, runId }: NonNullable<Submission['replyTo']>,
  outcome: WorkflowOutcome,
): Promise<void> {
  const signal = outcome.action === 'COMMIT' ? messages.commitSignal : messages.rollbackSignal;
  try {
    await getExternalWorkflowHandle(workflowId, runId).signal(signal, {
      changeId: change.changeId,
      receipt: outcome.receipt,
      outcome,
    });
  } catch (error) {
    change.warn('The requester could not be signalled');
    log.warn('The requester could not be signalled', { error: String(error) });
  }
}
