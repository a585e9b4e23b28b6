import { getExternalWorkflowHandle, log, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { Submission } from '../policy/contracts/diff';
import type { ReviewOutcome } from '../policy/contracts/outcome';
import { currentDetails } from './details';
import * as messages from './messages';
import { notices } from './proxies';
import { now, type Review } from './review-state';
import { searchAttributesOf } from '../policy/contracts/search-attributes';

/** Updates what the Temporal UI shows: current details and search attributes. Two upserts for a review that waits, one for others. */
export function publishStatus(change: Review, note?: string): void {
  setCurrentDetails(currentDetails(change.status(now()), note));
  if (change.state === 'INTERVENTION_REQUIRED' || change.outcome !== null || change.state === 'EFFECT_UNKNOWN') {
    upsertSearchAttributes(searchAttributesOf(change.status(now())));
  }
}

/** In the background: a notification that cannot be sent never changes the outcome. */
export function notify(change: Review, event: 'intervention_required' | 'reminder' | 'closed'): void {
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
      change.warn(`A notification (${event}) could not be sent`);
      log.error('A notification could not be sent', { event, error: String(error) });
    });
}

/** Signals the requester's own workflow. A failure is a warning and never changes the outcome. */
export async function signalRequester(
  change: Review,
  { workflowId, runId }: NonNullable<Submission['replyTo']>,
  outcome: ReviewOutcome,
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
