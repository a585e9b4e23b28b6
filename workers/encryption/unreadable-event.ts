import type { Payload, PayloadCodec } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { missingKey } from './payload-codec';

type Event = temporal.api.history.v1.IHistoryEvent;

/** Id of a key that is missing here, without which the workflow cannot be replayed past this event; null if none is. */
export async function keyMissingFor(event: Event, codecs: readonly PayloadCodec[] = []): Promise<string | null> {
  return await missingKey(replayedPayloads(event), codecs);
}

/** Signals are left out: anyone may send one that no key decrypts, and the workflow ignores it. */
function replayedPayloads(event: Event): Payload[] {
  const started = event.workflowExecutionStartedEventAttributes?.input;
  const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.args;
  const activity = event.activityTaskCompletedEventAttributes?.result;
  const marker = Object.values(event.markerRecordedEventAttributes?.details ?? {});
  return [started, update, activity, ...marker].flatMap((found) => found?.payloads ?? []);
}
