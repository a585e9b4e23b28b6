import { getExternalWorkflowHandle, log, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { ReviewOutcome } from '../policy/contracts/outcome';
import { breakerSamples } from '../policy/decide/breaker-samples';
import { currentDetails } from './details';
import * as messages from './messages';
import { notices, sinks } from './proxies';
import { now, type Review } from './review-state';
import { searchAttributesOf } from '../policy/contracts/search-attributes';

/** What others are told of a review. None of it moves the outcome. */

/** What people see in the Temporal UI: search attributes and current details. Two upserts a review that waits, one that does not. */
export function show(change: Review, note?: string): void {
  setCurrentDetails(currentDetails(change.status(now()), note));
  if (change.state === 'INTERVENTION_REQUIRED' || change.outcome !== null || change.state === 'EFFECT_UNKNOWN') {
    upsertSearchAttributes(searchAttributesOf(change.status(now())));
  }
}

/** In the background: a notice that cannot be sent never moves the outcome (T63). */
export function announce(change: Review, event: 'intervention_required' | 'reminder' | 'closed'): void {
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

/** The outcome stands; a sink that is away changes nothing. Reviews opened before there were sinks know of none. */
export async function tellSinks({ changeId, submission, warnings }: Review, outcome: ReviewOutcome): Promise<void> {
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
export async function reply(change: Review, outcome: ReviewOutcome): Promise<void> {
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
