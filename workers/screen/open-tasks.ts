/**
 * Which tasks the core has of each run, so that it gets one at a time.
 *
 * The core (1.24.0) keeps the next task of a run back while the workflow is computing, but not while the run waits for a local
 * activity. A task that comes then replaces the one in progress ("Trying to send a new WFT for a run which already has one!"):
 * the first one times out, and the run continues with messages in an order that a replay cannot repeat (docs/decisions/0035).
 *
 * O1 A workflow task waits until the core has answered all tasks of its run, at most `MAX_WAIT_TICKS`. Then it is dropped, and the
 *    server offers it again after the time-out of workflow tasks. A newer task of the run replaces one that waits: the server gives
 *    out the next attempt only when the one before it has timed out.
 * O2 A query is refused while the core has a workflow task of its run, and while one waits: otherwise queries that overlap would
 *    keep it waiting. Queries may be concurrent.
 * O3 A task that the core never answers counts for `MAX_OPEN_TICKS`. While the process is stopped, no ticks pass: otherwise the
 *    second attempt at a task would meet the first one after the stop.
 * O4 Each task that waits keeps a poll of the core. At each tick those that have waited for a whole tick are dropped, the longest first,
 *    while more than `MAX_WAITING` wait: so a few runs whose tasks the core never answers do not stop the polls of all others. A dropped
 *    task costs its review ten seconds, and with many reviews several tasks wait for some milliseconds each.
 */
export interface Task {
  readonly runId: string;
  readonly taskToken: Uint8Array;
  readonly isQuery: boolean;
}

export const TICK_MS = 1_000;
/** The core completes a task that waits for a local activity after 80 % of its time-out of 10 s. */
const MAX_OPEN_TICKS = 10;
const MAX_WAIT_TICKS = 5;
/** Below the smallest number of polls of a queue (`POLLERS` in run-worker.ts). More may wait for up to two ticks (O4). */
const MAX_WAITING = 4;

interface Waiting<T> {
  readonly task: T;
  ticks: number;
  readonly end: (isAdmitted: boolean) => void;
}

export class OpenTasks<T extends Task = Task> {
  /** By run, then by the token in hexadecimal. */
  readonly #open = new Map<string, Map<string, { readonly task: T; ticks: number }>>();
  readonly #runOf = new Map<string, string>();
  /** In the order of arrival, at most one of each run. */
  readonly #waiting = new Set<Waiting<T>>();

  /** Resolves with true when the core may get the task. It then counts until `answered`. */
  admit(task: T): Promise<boolean> {
    if (task.isQuery) {
      const isBusy = this.#waitingOf(task.runId) !== undefined || this.#of(task.runId).some((other) => !other.isQuery);
      if (!isBusy) this.begin(task);
      return Promise.resolve(!isBusy);
    }
    if (this.#of(task.runId).length === 0) {
      this.begin(task);
      return Promise.resolve(true);
    }
    const dropped = this.#waitingOf(task.runId);
    if (dropped !== undefined) this.#end(dropped, false);
    return new Promise((end) => void this.#waiting.add({ task, ticks: 0, end }));
  }

  /** The core gets the task without waiting. */
  begin(task: T): void {
    const key = keyOf(task.taskToken);
    const ofRun = this.#open.get(task.runId) ?? new Map<string, { readonly task: T; ticks: number }>();
    this.#open.set(task.runId, ofRun.set(key, { task, ticks: 0 }));
    this.#runOf.set(key, task.runId);
  }

  /** The core answered this task, or will never get it. */
  answered(taskToken: Uint8Array): void {
    const key = keyOf(taskToken);
    const runId = this.#runOf.get(key);
    if (runId === undefined) return;
    this.#runOf.delete(key);
    const ofRun = this.#open.get(runId);
    ofRun?.delete(key);
    if (ofRun?.size === 0) this.#open.delete(runId);
    this.#admitNext(runId);
  }

  /** The queries of a run; none if the core has a workflow task of it. */
  onlyQueries(runId: string): readonly T[] {
    const tasks = this.#of(runId);
    return tasks.every((task) => task.isQuery) ? tasks : [];
  }

  /** Call it each `TICK_MS`. */
  tick(): void {
    for (const ofRun of this.#open.values())
      for (const each of ofRun.values()) if (++each.ticks >= MAX_OPEN_TICKS) this.answered(each.task.taskToken);
    for (const each of this.#waiting) {
      // The first tick can come directly after the task.
      const isExcess = ++each.ticks > 1 && this.#waiting.size > MAX_WAITING;
      if (isExcess || each.ticks >= MAX_WAIT_TICKS) this.#end(each, false);
    }
  }

  #of(runId: string): readonly T[] {
    return [...(this.#open.get(runId)?.values() ?? [])].map(({ task }) => task);
  }

  #waitingOf(runId: string): Waiting<T> | undefined {
    return [...this.#waiting].find(({ task }) => task.runId === runId);
  }

  #admitNext(runId: string): void {
    if (this.#of(runId).length > 0) return;
    const next = this.#waitingOf(runId);
    if (next === undefined) return;
    this.begin(next.task);
    this.#end(next, true);
  }

  #end(waiting: Waiting<T>, isAdmitted: boolean): void {
    this.#waiting.delete(waiting);
    waiting.end(isAdmitted);
  }
}

const keyOf = (taskToken: Uint8Array): string => Buffer.from(taskToken).toString('hex');
