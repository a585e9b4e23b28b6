/** Each probe rejects if its service does not answer. */
export interface ServiceProbes {
  readonly database: () => Promise<unknown>;
  readonly temporal: () => Promise<unknown>;
}

type ServiceState = 'up' | 'down';

/** `ok`: every service answered. */
export type ServiceStates = { readonly ok: boolean } & { readonly [Name in keyof ServiceProbes]: ServiceState };

/** A service that takes longer counts as down. */
export const PROBE_TIMEOUT_MS = 3_000;
const MAX_AGE_MS = 1_000;
const DEFAULTS = { timeoutMs: PROBE_TIMEOUT_MS, maxAgeMs: MAX_AGE_MS };

/** Whether the services behind the gateway answer. Asks each at most once a second by default: `/readyz` needs no authentication. */
export class Readiness {
  #last: { readonly at: number; readonly states: Promise<ServiceStates> } | null = null;

  constructor(
    private readonly probes: ServiceProbes,
    private readonly now: () => number,
    private readonly bounds = DEFAULTS,
  ) {}

  async check(): Promise<ServiceStates> {
    const at = this.now();
    if (this.#last === null || at - this.#last.at >= this.bounds.maxAgeMs) this.#last = { at, states: this.#ask() };
    return await this.#last.states;
  }

  async #ask(): Promise<ServiceStates> {
    const [database, temporal] = await Promise.all([
      this.#stateOf(this.probes.database),
      this.#stateOf(this.probes.temporal),
    ]);
    return { ok: database === 'up' && temporal === 'up', database, temporal };
  }

  async #stateOf(probe: () => Promise<unknown>): Promise<ServiceState> {
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve('down'), this.bounds.timeoutMs);
      const settle = (state: ServiceState): void => {
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
