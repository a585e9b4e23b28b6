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

/** Whether the parts that a process needs answer. Asks each at most once a second by default: `/readyz` needs no authentication. */
export class Readiness<Part extends string> {
  readonly #readings: FreshReading<Readings<Part>>;

  constructor(
    private readonly probes: Probes<Part>,
    now: () => number,
    private readonly bounds = DEFAULTS,
  ) {
    this.#readings = new FreshReading(() => this.#ask(), bounds.maxAgeMs, now);
  }

  async check(): Promise<Readings<Part>> {
    return await this.#readings.get();
  }

  async #ask(): Promise<Readings<Part>> {
    const names = Object.keys(this.probes) as Part[];
    const states = await Promise.all(names.map((name) => this.#stateOf(this.probes[name])));
    return {
      ok: states.every((state) => state === 'up'),
      parts: Object.fromEntries(names.map((name, i) => [name, states[i]])) as Record<Part, PartState>,
    };
  }

  async #stateOf(probe: () => Promise<unknown>): Promise<PartState> {
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve('down'), this.bounds.timeoutMs);
      const settle = (state: PartState): void => {
        clearTimeout(timer);
        resolve(state);
      };
      probe().then(
        () => settle('up'),
        () => settle('down'),
      );
    });
  }
}
