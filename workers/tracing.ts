/**
 * OpenTelemetry spans of activities. A no-op without an OpenTelemetry SDK in the process.
 *
 * A span has the activity, the change, the attempt, the duration, and the `type` of a failure. It never has text of a diff, a
 * finding or a message.
 */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, context, type Context } from '@opentelemetry/api';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { traceOfChange } from '../policy/contracts/change-id';

export const traceActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    async execute(input, next) {
      const { workflowId = '' } = info.workflowExecution ?? {};
      const span = trace.getTracer('countersign').startSpan(
        info.activityType,
        {
          kind: SpanKind.CONSUMER,
          attributes: {
            'countersign.change': workflowId,
            'temporal.task_queue': info.taskQueue,
            'temporal.activity.attempt': info.attempt,
          },
        },
        parentOf(workflowId),
      );
      try {
        return await context.with(trace.setSpan(context.active(), span), () => next(input));
      } catch (error) {
        const type = error instanceof ApplicationFailure ? error.type : undefined;
        span.setStatus({
          code: SpanStatusCode.ERROR,
          message: type ?? (error instanceof Error ? error.name : 'unknown'),
        });
        throw error;
      } finally {
        span.end();
      }
    },
  },
});

function parentOf(workflowId: string): Context {
  const ids = traceOfChange(workflowId);
  return ids === null
    ? ROOT_CONTEXT
    : trace.setSpanContext(ROOT_CONTEXT, { ...ids, traceFlags: TraceFlags.SAMPLED, isRemote: true });
}
