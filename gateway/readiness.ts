import { messageOf } from '../client/errors';
import { FreshReading } from './fresh-reading';

/** Each probe rejects if its part does not answer. */
export type Probes<Part extends string> = Readonly<Record<Part, () => Promise<unknown>>>;

/** The services behind the gateway. */
export type ServiceProbes = Probes<'database' | 'temporal'>;

type PartState = 'up' | 'down';

export interface Readings<Part extends string> {
  /** Every part answered. */
  readonly ok: boolean;
  readonly parts: Readonly<Record<Part, PartState>>;
}

/** A part that takes longer counts as down. */
export const PROBE_TIMEOUT_MS = 3_000;
const MAX_AGE_MS = 1_000;
const DEFAULTS = { timeoutMs: PROBE_TIMEOUT_MS, maxAgeMs: MAX_AGE_MS };

/** Where the log of a process learns why a part is down: `/readyz` does not say it. */
export interface ReadinessLog {
  readonly error: (facts: object, message: string) => void;
}

/** Whether the parts that a process needs answer. Asks each at most once a second by default: `/readyz` needs no authentication. */
export class Readiness<Part extends string> {
  readonly #readings: FreshReading<Readings<Part>>;
  readonly #down = new Set<Part>();

  constructor(
    private readonly probes: Probes<Part>,
    now: () => number,
    private readonly bounds = DEFAULTS,
    private readonly log: ReadinessLog | null = null,
  ) {
    this.#readings = new FreshReading(() => this.#ask(), bounds.maxAgeMs, now);
  }

  async check(): Promise<Readings<Part>> {
    return await this.#readings.get();
  }

  async #ask(): Promise<Readings<Part>> {
    const names = Object.keys(this.probes) as Part[];
    const problems = await Promise.all(names.map((name) => this.#problemOf(name)));
    return {
      ok: problems.every((problem) => problem === null),
      parts: Object.fromEntries(
        names.map((name, i) => [name, problems[i] === null ? 'up' : 'down']),
      ) as Readings<Part>['parts'],
    };
  }

  /** Why the part is down, or null. Logged once until it is up again, because probes are frequent. */
  async #problemOf(part: Part): Promise<string | null> {
    const problem = await this.#probe(part);
    if (problem === null) this.#down.delete(part);
    else if (!this.#down.has(part)) {
      this.#down.add(part);
      this.log?.error({ part, error: problem }, 'A part that this process needs is down');
    }
    return problem;
  }

  async #probe(part: Part): Promise<string | null> {
    const { timeoutMs } = this.bounds;
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve(`no answer within ${timeoutMs} ms`), timeoutMs);
      const settle = (problem: string | null): void => {
        clearTimeout(timer);
        resolve(problem);
      };
      this.probes[part]().then(
        () => settle(null),
        (error: unknown) => settle(messageOf(error)),
      );
    });
  }
}
