import { asyncLocalStorage, Context, type Info } from '@temporalio/activity';
import { noopMetricMeter, type Logger } from '@temporalio/common';
import { failureInterceptor } from '../activities/failure-interceptor';

/** Failures are what callers look at, so nothing is logged. */
const SILENT: Logger = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

const INFO = {
  attempt: 1,
  taskQueue: 'test',
  isLocal: false,
  inWorkflow: true,
  taskToken: Buffer.from('test'),
  base64TaskToken: Buffer.from('test').toString('base64'),
  activityId: 'test',
  activityType: 'unknown',
  workflowType: 'test',
  workflowExecution: { workflowId: 'test', runId: '00000000-0000-0000-0000-000000000000' },
  namespace: 'test',
  scheduledTimestampMs: 1,
  currentAttemptScheduledTimestampMs: 1,
  startToCloseTimeoutMs: 1_000,
  scheduleToCloseTimeoutMs: 1_000,
};

/**
 * Runs `work` as a worker runs an activity: with an activity context, which is never cancelled, and with our interceptor.
 * For the same with cancellation and heartbeats there is `MockActivityEnvironment`; it loads the native worker, which takes
 * longer than most tests.
 */
export function inActivity<T>(work: () => Promise<T>, info: Partial<Info> = {}): Promise<T> {
  const context = new Context(
    { ...INFO, ...info } as Info,
    new Promise<never>(() => {}),
    new AbortController().signal,
    () => {},
    undefined,
    SILENT,
    noopMetricMeter,
    {},
  );
  const { inbound } = failureInterceptor(context);
  if (inbound?.execute === undefined) throw new Error('The failure interceptor has no inbound call');
  const run = inbound.execute.bind(inbound);
  return asyncLocalStorage.run(context, () => run({ args: [], headers: {} }, work)) as Promise<T>;
}
