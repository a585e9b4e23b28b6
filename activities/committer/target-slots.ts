import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';

/** Whose work on which target. Only decides who waits for whom, so it need not be verified. */
export interface SlotUser {
  readonly target: string;
  readonly tenant: string;
}

/**
 * Bounds the concurrent work on each target in this process.
 *
 * T1 At most `perTarget` calls of one target run at a time, so a burst cannot use up the connections of the target.
 * T2 A free slot goes to the tenants that wait in turn, so a tenant waits for at most one call of each other tenant.
 * T3 At most `maxWaiting` calls of one tenant wait for one target. More are refused with TARGET_UNAVAILABLE and retried by Temporal:
 *    a waiting call uses a slot of the worker, and a target that hangs must not take the slots from all others.
 */
export interface TargetSlots {
  /** Rejects with the reason of `signal` if it aborts while the call waits. */
  run<T>(user: SlotUser, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** With a running 8 less than half of the 100 activities that a worker runs at a time, which is the SDK's default. */
const MAX_WAITING = 40;

interface Waiting {
  readonly start: () => void;
  readonly refuse: (reason: unknown) => void;
}

interface TargetQueue {
  running: number;
  /** The tenant that waits for the longest time comes first. */
  readonly waiting: Map<string, Waiting[]>;
}

export function targetSlots(perTarget: number, maxWaiting = MAX_WAITING): TargetSlots {
  const queues = new Map<string, TargetQueue>();

  function acquire({ target, tenant }: SlotUser, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const queue = queues.get(target) ?? { running: 0, waiting: new Map<string, Waiting[]>() };
    queues.set(target, queue);
    if (queue.running < perTarget) {
      queue.running++;
      return Promise.resolve();
    }
    const line = queue.waiting.get(tenant) ?? [];
    if (line.length >= maxWaiting) throw busy(target, tenant, line.length);
    queue.waiting.set(tenant, line);
    return new Promise((resolve, reject) => {
      const abort = (): void => leave(queue, tenant, waiting, signal.reason);
      const start = (): void => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const waiting = { start, refuse: reject };
      line.push(waiting);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Passes the slot to the next tenant, or frees it. */
  function release(target: string): void {
    const queue = queues.get(target);
    if (queue === undefined) throw new Error(`The target ${target} has no slot to release`);
    const [first] = queue.waiting;
    if (first === undefined) {
      if (--queue.running === 0) queues.delete(target);
      return;
    }
    const [tenant, line] = first;
    const next = line.shift();
    queue.waiting.delete(tenant);
    if (line.length > 0) queue.waiting.set(tenant, line);
    next?.start();
  }

  return {
    async run(user, signal, work) {
      await acquire(user, signal);
      try {
        return await work();
      } finally {
        release(user.target);
      }
    },
  };
}

/** Removes a call that no longer waits for a slot. A no-op if it has one. */
function leave({ waiting }: TargetQueue, tenant: string, call: Waiting, reason: unknown): void {
  const line = waiting.get(tenant);
  const at = line?.indexOf(call) ?? -1;
  if (line === undefined || at === -1) return;
  line.splice(at, 1);
  if (line.length === 0) waiting.delete(tenant);
  call.refuse(reason);
}

function busy(target: string, tenant: string, waiting: number): CountersignFailure {
  return CountersignFailure.retryable(
    `The target ${target} is busy: ${waiting} changes of the tenant ${tenant} wait for it in this process`,
    FailureType.Target,
  );
}
