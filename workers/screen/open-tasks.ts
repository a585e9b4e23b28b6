/**
 * Which tasks the core has of each run, so that it gets one at a time.
 *
 * The core (1.24.0) keeps the next task of a run back while the workflow is computing, but not while the run waits for a local
 * activity. A task that comes then replaces the one in progress ("Trying to send a new WFT for a run which already has one!"):
 * the first one times out, and the run continues with messages in an order that a replay cannot repeat (docs/decisions/0035).
 *
 * O1 A workflow task waits until the core has answered all tasks of its run, at most `MAX_WAIT_TICKS`. Then it is dropped, and the
 *    server offers it again after the time-out of workflow tasks.
 * O2 A query is refused while the core has a workflow task of its run. Queries may be concurrent.
 * O3 A task that the core never answers counts for `MAX_OPEN_TICKS`. While the process is stopped, no ticks pass: otherwise the
 *    second attempt at a task would meet the first one after the stop.
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

interface Waiting {
  readonly task: Task;
  ticks: number;
  readonly end: (isAdmitted: boolean) => void;
}

export class OpenTasks {
  /** By the token, in hexadecimal. */
  readonly #open = new Map<string, { readonly task: Task; ticks: number }>();
  readonly #waiting = new Set<Waiting>();

  /** Resolves with true when the core may get the task. It then counts until `answered`. */
  admit(task: Task): Promise<boolean> {
    if (task.isQuery) {
      const isBusy = this.#of(task.runId).some((other) => !other.isQuery);
      if (!isBusy) this.begin(task);
      return Promise.resolve(!isBusy);
    }
    if (this.#of(task.runId).length === 0) {
      this.begin(task);
      return Promise.resolve(true);
    }
    return new Promise((end) => void this.#waiting.add({ task, ticks: 0, end }));
  }

  /** The core gets the task without waiting. */
  begin(task: Task): void {
    this.#open.set(keyOf(task.taskToken), { task, ticks: 0 });
  }

  /** The core answered this task, or will never get it. */
  answered(taskToken: Uint8Array): void {
    const key = keyOf(taskToken);
    const ended = this.#open.get(key);
    this.#open.delete(key);
    if (ended !== undefined) this.#admitNext(ended.task.runId);
  }

  /** Call it each `TICK_MS`. */
  tick(): void {
    for (const each of this.#open.values()) if (++each.ticks >= MAX_OPEN_TICKS) this.answered(each.task.taskToken);
    for (const each of this.#waiting) if (++each.ticks >= MAX_WAIT_TICKS) this.#end(each, false);
  }

  #of(runId: string): readonly Task[] {
    return [...this.#open.values()].map(({ task }) => task).filter((task) => task.runId === runId);
  }

  #admitNext(runId: string): void {
    if (this.#of(runId).length > 0) return;
    const next = [...this.#waiting].find(({ task }) => task.runId === runId);
    if (next === undefined) return;
    this.begin(next.task);
    this.#end(next, true);
  }

  #end(waiting: Waiting, isAdmitted: boolean): void {
    this.#waiting.delete(waiting);
    waiting.end(isAdmitted);
  }
}

const keyOf = (taskToken: Uint8Array): string => Buffer.from(taskToken).toString('hex');
