import { allHandlersFinished, continueAsNew, workflowInfo } from '@temporalio/workflow';
import { withoutInline, type Submission } from '../policy/contracts/diff';
import type { WorkflowOutcome } from '../policy/contracts/outcome';
import type { Carried, Review } from './review-state';
import { waitOrTimeout } from './wait-or-timeout';

/** Temporal ends a run at 51,200 events or 50 MiB, and refuses updates after 2,000 of them. Honest reviews have 30 to 100 events. */
const MAX_EVENTS = 1_500;
/**
 * More than a submission of the largest size and MAX_CARRIED_BYTES, which are the first event of the next run: otherwise that run would
 * continue at once as well.
 */
const MAX_BYTES = 768 * 1024;
/** A quarter of the limit of a payload on our own servers (`limit.blobSize.error`). */
const MAX_CARRIED_BYTES = 256 * 1024;

/** True if the history of this run is long enough to continue as a new one. */
export function isLong(): boolean {
  const { historyLength, historySize, continueAsNewSuggested } = workflowInfo();
  return historyLength >= MAX_EVENTS || historySize >= MAX_BYTES || continueAsNewSuggested;
}

const PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 30_000;

/**
 * Waits for a pause between messages, then continues as a new run. The server refuses to end a run while a message arrives, and
 * each refusal costs a replay of the history; during a flood the run goes on instead. The server accepts 10,000 signals for a run.
 */
export async function continueWhenCalm(
  change: Review,
  waitsFor: Carried['waitsFor'],
  over: () => boolean,
): Promise<void> {
  // A few large messages reach the limit of bytes sooner than a pause comes.
  if (workflowInfo().historySize >= MAX_BYTES) await continueInNextRun(change, waitsFor, over);
  for (let pause = PAUSE_MS; change.mayContinue && !over(); pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    const before = change.received;
    await waitOrTimeout(pause, 'a pause between messages, to continue as a new run', over);
    if (change.received - before <= pause / 1_000) await continueInNextRun(change, waitsFor, over);
  }
}

/**
 * Continues as a new run with the same submission and the state of this one. Returns only if the state is too large to carry, if
 * `over` became true, or if message handlers did not finish; the review then goes on in this run.
 */
async function continueInNextRun(change: Review, waitsFor: Carried['waitsFor'], over: () => boolean): Promise<void> {
  await waitOrTimeout(MAX_PAUSE_MS, 'message handlers to finish', () => over() || allHandlersFinished());
  if (over() || !allHandlersFinished()) return;
  const carried = change.carry(waitsFor);
  if (new TextEncoder().encode(JSON.stringify(carried)).length > MAX_CARRIED_BYTES) {
    change.mayContinue = false;
    return;
  }
  await continueAsNew<(input: Submission, carried: Carried) => Promise<WorkflowOutcome>>(
    withoutInline(change.submission),
    carried,
  );
}
