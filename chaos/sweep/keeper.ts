import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningProcess } from '../../dev/process-tree';
import type { Say } from '../../dev/embedded';
import type { Armoury, Fired } from './arming';
import type { Servers } from './servers';

export type Role = 'review' | 'judge' | 'commit';
/** Two of each where one that dies must leave another that goes on meanwhile. */
const WORKERS: readonly Role[] = ['review', 'review', 'judge', 'commit', 'commit'];

/** How long a frozen worker stays so: past every time-out of the sweep. */
const FROZEN_MS = 12_000;

/** Starts again what a fault has killed, continues what it froze, and kills the servers that it names. */
export class Keeper {
  readonly restarts = { review: 0, judge: 0, commit: 0, postgres: 0, temporal: 0, continued: 0 };
  readonly #running = new Set<RunningProcess>();
  #ending = false;
  #watching: Promise<void> = Promise.resolve();

  constructor(
    readonly servers: Servers,
    readonly armoury: Armoury,
    readonly start: (role: Role) => Promise<RunningProcess>,
    readonly say: Say,
  ) {}

  async begin(): Promise<void> {
    // One after the other: on a machine that is busy five at once would not be up in time.
    for (const role of WORKERS) await this.#again(role);
    this.#watching = this.#watch();
  }

  async end(): Promise<void> {
    this.#ending = true;
    await this.#watching;
    await Promise.all([...this.#running].map((each) => each.kill()));
  }

  async #keep(role: Role): Promise<void> {
    const running = await this.start(role);
    if (this.#ending) return running.kill();
    this.#running.add(running);
    void running.ended.then(async () => {
      this.#running.delete(running);
      if (this.#ending) return;
      this.restarts[role]++;
      await this.#again(role);
    });
  }

  /** While a server is away no worker comes up: until one does, or the sweep ends. */
  async #again(role: Role): Promise<void> {
    while (!this.#ending) {
      try {
        return await this.#keep(role);
      } catch (error) {
        this.say(`${role} did not come up, once more: ${String(error).slice(0, 300)}`);
        await sleep(500);
      }
    }
  }

  async #watch(): Promise<void> {
    while (!this.#ending) {
      for (const fired of this.armoury.news()) await this.#answer(fired);
      await sleep(3);
    }
  }

  async #answer({ fault, pid }: Fired): Promise<void> {
    switch (fault.action) {
      case 'stop':
        this.restarts.continued++;
        setTimeout(() => this.#continue(pid), FROZEN_MS);
        return;
      case 'postgres':
        this.restarts.postgres++;
        return this.servers.killPostgres();
      case 'temporal':
        this.restarts.temporal++;
        return this.servers.killTemporal();
      case 'kill':
      case 'throw':
      case 'fatal':
      case 'hang':
      case 'lost':
        return;
      default:
        return fault.action satisfies never;
    }
  }

  #continue(pid: number): void {
    // Only a process that is ours still: a pid may have been given to a stranger.
    if ([...this.#running].some((each) => each.pid === pid)) process.kill(pid, 'SIGCONT');
  }
}
