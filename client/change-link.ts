import { trace, TraceFlags } from '@opentelemetry/api';
import { traceOfChange } from '../policy/contracts/change-id';

/** Links the caller's active span, if any, to the trace of the review. */
export function linkToChange(changeId: string): void {
  const ids = traceOfChange(changeId);
  if (ids !== null)
    trace.getActiveSpan()?.addLink({ context: { ...ids, traceFlags: TraceFlags.SAMPLED, isRemote: true } });
}
