/**
 * A discrete-event model of reviews on many workers: not a measurement. It has the resources that the design shares, and nothing
 * else, so its throughput shows which of them is a bound.
 *
 * - Each worker process computes one step at a time (`cpuMs`, as measured).
 * - Each step then waits for `latencyMs`, injected, for servers that are as fast as needed, apart from the following.
 * - An opening has the lock of its scope for `openingMs`; an end has the lock of tenant and source tool for `endingMs`, as measured.
 * - Each committer works on at most `perTarget` changes of one target at a time.
 * - All judge workers together start `judgePerSecond` questions a second: an operator's setting for the limit of a provider.
 * - The database appends to the ledger at most `appendsPerSecond` times, for all workers.
 * - One committer at a time signs checkpoints, over `checkpointRowsPerSecond`. No review waits for them; here one ends with its checkpoint,
 *   so that the throughput is one that checkpoints keep up with.
 */
import type { WorkerRole } from '../policy/contracts/queues';
import type { LockHolds } from './lock-holds';

export interface ModelInput {
  /** Processes of each kind. */
  readonly workers: number;
  /** Each has its own target. */
  readonly tenants: number;
  /** False: every opening takes one lock, regardless of its scope. */
  readonly lockByScope: boolean;
  /** CPU of each kind of worker for one review. */
  readonly cpuMs: Readonly<Record<WorkerRole, number>>;
  readonly holds: LockHolds;
  readonly latencyMs: number;
  readonly perTarget: number;
  /** Null: no limit. */
  readonly judgePerSecond: number | null;
  readonly appendsPerSecond: number;
  readonly checkpointRowsPerSecond: number;
  /** Ledger rows of one review. */
  readonly rows: number;
  readonly reviews: number;
  /** Reviews that are open at a time. */
  readonly open: number;
}

export interface ModelResult {
  readonly perSecond: number;
  /** The resource that is in use for the largest part of the time, and that part. */
  readonly busiest: { readonly name: string; readonly share: number };
}

type Lock = 'opening' | 'ending' | 'target';

interface Step {
  readonly kind: WorkerRole;
  readonly appends: number;
  readonly lock?: Exclude<Lock, 'target'>;
  readonly usesTarget?: true;
}

/** Opening with the rules, dry run, judge, disclosure, two answers, commit with its intent, end. */
const STEPS: readonly Step[] = [
  { kind: 'review', appends: 1, lock: 'opening' },
  { kind: 'commit', appends: 1, usesTarget: true },
  { kind: 'judge', appends: 1 },
  { kind: 'review', appends: 1 },
  { kind: 'review', appends: 1 },
  { kind: 'review', appends: 1 },
  { kind: 'commit', appends: 1, usesTarget: true },
  // Effect, receipt with the closing row, head.
  { kind: 'commit', appends: 3, lock: 'ending' },
];

/** Appends to the ledger for one review. */
export const APPENDS = STEPS.reduce((sum, { appends }) => sum + appends, 0);

export function simulate(input: ModelInput): ModelResult {
  const { workers, cpuMs, holds, latencyMs, reviews, judgePerSecond } = input;
  const clock = new Clock();
  const resources = new Map<string, Resource>();
  const resource = (name: string, size: number): Resource => {
    const known = resources.get(name) ?? new Resource(clock, name, size);
    resources.set(name, known);
    return known;
  };
  const stepsOf = (kind: WorkerRole): number => STEPS.filter((step) => step.kind === kind).length;
  const compute = (kind: WorkerRole, then: () => void): void =>
    resource(`CPU of the ${kind} workers`, workers).use(cpuMs[kind] / stepsOf(kind), then);
  const append = (appends: number, then: () => void): void =>
    resource('the appends to the ledger', 1).use((appends * 1_000) / input.appendsPerSecond, then);
  const allowed = (kind: WorkerRole, then: () => void): void => {
    if (kind !== 'judge' || judgePerSecond === null) return then();
    resource('the rate limit of the judge', 1).use(1_000 / judgePerSecond, then);
  };
  const checkpointed = (then: () => void): void =>
    resource('the checkpoints', 1).use((input.rows * 1_000) / input.checkpointRowsPerSecond, then);
  const locked = (lock: Exclude<Lock, 'target'>, tenant: number, then: () => void): void => {
    const scope = lock === 'opening' && !input.lockByScope ? 'all' : `tenant ${tenant}`;
    resource(`the lock of ${lock === 'opening' ? 'openings' : 'ends'} of ${scope}`, 1).use(
      lock === 'opening' ? holds.openingMs : holds.endingMs,
      then,
    );
  };

  const ended: number[] = [];
  let started = 0;
  const begin = (): void => {
    if (started === reviews) return;
    const tenant = started++ % input.tenants;
    const next = (i: number): void => {
      const step = STEPS[i];
      if (step === undefined)
        return checkpointed(() => {
          ended.push(clock.now);
          begin();
        });
      const write = (done: () => void): void =>
        append(step.appends, () => (step.lock === undefined ? done() : locked(step.lock, tenant, done)));
      const work = (done: () => void): void =>
        allowed(step.kind, () => compute(step.kind, () => clock.after(latencyMs, () => write(done))));
      if (step.usesTarget === undefined) return work(() => next(i + 1));
      const slots = resource(`the slots of the target of tenant ${tenant}`, workers * input.perTarget);
      slots.acquire((release) => work(() => (release(), next(i + 1))));
    };
    next(0);
  };
  for (let i = 0; i < input.open; i++) begin();
  clock.run();
  return resultOf(ended, [...resources.values()], clock.now);
}

/** Leaves the first and the last fifth out: the model fills and drains. */
function resultOf(ended: readonly number[], resources: readonly Resource[], until: number): ModelResult {
  const [from, to] = [Math.floor(ended.length * 0.2), Math.floor(ended.length * 0.8)];
  const seconds = ((ended[to] ?? 0) - (ended[from] ?? 0)) / 1_000;
  const shares = resources.map(({ name, size, busyMs }) => ({ name, share: busyMs / (size * until) }));
  const busiest = shares.reduce((a, b) => (b.share > a.share ? b : a));
  return {
    perSecond: Math.round(((to - from) / seconds) * 10) / 10,
    busiest: { name: busiest.name, share: Math.round(busiest.share * 100) / 100 },
  };
}

/** `size` users at a time; others wait in the order of arrival. */
class Resource {
  #inUse = 0;
  readonly #waiting: (() => void)[] = [];
  #next = 0;
  busyMs = 0;

  constructor(
    readonly clock: Clock,
    readonly name: string,
    readonly size: number,
  ) {}

  use(ms: number, then: () => void): void {
    this.acquire((release) =>
      this.clock.after(ms, () => {
        release();
        then();
      }),
    );
  }

  acquire(then: (release: () => void) => void): void {
    const start = (): void => {
      this.#inUse++;
      const since = this.clock.now;
      then(() => {
        this.#inUse--;
        this.busyMs += this.clock.now - since;
        const waiting = this.#waiting[this.#next];
        if (waiting === undefined) return;
        this.#next++;
        waiting();
      });
    };
    if (this.#inUse < this.size) start();
    else this.#waiting.push(start);
  }
}

/** Runs events in the order of their times, and those of one time in the order in which they were added. */
class Clock {
  now = 0;
  #added = 0;
  readonly #heap: { readonly at: number; readonly order: number; readonly run: () => void }[] = [];

  after(ms: number, run: () => void): void {
    const heap = this.#heap;
    heap.push({ at: this.now + ms, order: this.#added++, run });
    for (let i = heap.length - 1; i > 0;) {
      const parent = (i - 1) >> 1;
      if (!this.#isBefore(i, parent)) return;
      this.#swap(i, parent);
      i = parent;
    }
  }

  run(): void {
    for (let event = this.#take(); event !== undefined; event = this.#take()) {
      this.now = event.at;
      event.run();
    }
  }

  #take() {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let i = 0; ;) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      let least = left < heap.length && this.#isBefore(left, i) ? left : i;
      if (right < heap.length && this.#isBefore(right, least)) least = right;
      if (least === i) return first;
      this.#swap(i, least);
      i = least;
    }
  }

  #isBefore(i: number, j: number): boolean {
    const [a, b] = [this.#heap[i], this.#heap[j]];
    if (a === undefined || b === undefined) throw new Error('unreachable');
    return a.at < b.at || (a.at === b.at && a.order < b.order);
  }

  #swap(i: number, j: number): void {
    const [a, b] = [this.#heap[i], this.#heap[j]];
    if (a === undefined || b === undefined) throw new Error('unreachable');
    this.#heap[i] = b;
    this.#heap[j] = a;
  }
}
