import { trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { linkToChange } from '../../client/change-link';
import { traceActivities } from '../../workers/tracing';

const CHANGE = '0123456789abcdef'.repeat(4);
const spans = new InMemorySpanExporter();
const run = (work: () => Promise<unknown>, workflowId = CHANGE): Promise<unknown> =>
  new MockActivityEnvironment(
    { activityType: 'stage', workflowExecution: { workflowId, runId: 'r' } },
    { interceptors: [traceActivities], logger: new DefaultLogger('ERROR') },
  ).run(work);

it('runs the activity without a tracer', async () => {
  expect(await run(async () => 7)).toBe(7);
});

describe('with a tracer', () => {
  beforeAll(() => {
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  });
  beforeEach(() => spans.reset());

  it('a failure is identified by its type, and its message is not in the span [P12]', async () => {
    const failing = run(() => Promise.reject(ApplicationFailure.retryable('row of Zebra7719', 'TARGET_UNAVAILABLE')));
    await expect(failing).rejects.toThrow('Zebra7719');
    const [span] = spans.getFinishedSpans();
    expect(span).toMatchObject({ name: 'stage', status: { code: 2, message: 'TARGET_UNAVAILABLE' }, events: [] });
    expect(span?.spanContext().traceId).toBe(CHANGE.slice(0, 32));
  });

  it('an activity of a workflow that is not a review starts a new trace', async () => {
    await run(async () => 7, 'countersign-breaker/acme');
    expect(spans.getFinishedSpans()[0]?.parentSpanContext).toBeUndefined();
  });

  it('the span of a caller that submits or answers is linked to the trace of the change', () => {
    const span = trace.getTracer('agent').startSpan('turn');
    const active = jest.spyOn(trace, 'getActiveSpan').mockReturnValue(span);
    linkToChange(CHANGE);
    active.mockRestore();
    span.end();
    expect(spans.getFinishedSpans()[0]?.links.map(({ context }) => context.traceId)).toEqual([CHANGE.slice(0, 32)]);
  });
});
