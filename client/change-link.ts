import { trace, TraceFlags } from '@opentelemetry/api';
import { traceOfChange } from '../policy/contracts/change-trace';

/** Links the caller's span, where it has one, to the trace in which the change is reviewed. */
export function linkToChange(changeId: string): void {
  const ids = traceOfChange(changeId);
  if (ids !== null)
    trace.getActiveSpan()?.addLink({ context: { ...ids, traceFlags: TraceFlags.SAMPLED, isRemote: true } });
}
