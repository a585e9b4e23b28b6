import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerRole } from '../../policy/contracts/queues';
import type { RunningProcess } from '../../workers/start-process';
import type { Say } from '../../dev/embedded/processes';
import type { FaultController, Fired } from './armed-faults';
import type { Servers } from './servers';

/** Two processes of a role if another must continue while one is dead. */
const WORKERS: readonly WorkerRole[] = ['review', 'review', 'judge', 'commit', 'commit'];

/** How long a worker stays frozen: longer than every timeout of the sweep. */
const FROZEN_MS = 12_000;

/** Restarts workers that a fault killed, resumes those that it froze, and kills the servers that it names. */
export class Supervisor {
  readonly restarts = { review: 0, judge: 0, commit: 0, postgres: 0, temporal: 0, continued: 0 };
  readonly #running = new Set<RunningProcess>();
  #ending = false;
  #watching: Promise<void> = Promise.resolve();

  constructor(
    readonly servers: Servers,
    readonly faultController: FaultController,
    readonly start: (role: WorkerRole) => Promise<RunningProcess>,
    readonly say: Say,
  ) {}

  async begin(): Promise<void> {
    // One after the other: on a busy machine, five concurrent starts would time out.
    for (const role of WORKERS) await this.#startUntilUp(role);
    this.#watching = this.#watch();
  }

  async end(): Promise<void> {
    this.#ending = true;
    await this.#watching;
    await Promise.all([...this.#running].map((each) => each.kill()));
  }

  async #startAndWatch(role: WorkerRole): Promise<void> {
    const running = await this.start(role);
    if (this.#ending) return running.kill();
    this.#running.add(running);
    void running.ended.then(async () => {
      this.#running.delete(running);
      if (this.#ending) return;
      this.restarts[role]++;
      await this.#startUntilUp(role);
    });
  }

  /** Retries until the worker is up or the sweep ends: no worker starts while a server is down. */
  async #startUntilUp(role: WorkerRole): Promise<void> {
    while (!this.#ending) {
      try {
        return await this.#startAndWatch(role);
      } catch (error) {
        this.say(`The ${role} worker did not start, retrying: ${String(error).slice(0, 300)}`);
        await sleep(500);
      }
    }
  }

  async #watch(): Promise<void> {
    while (!this.#ending) {
      for (const fired of this.faultController.newlyFired()) await this.#react(fired);
      await sleep(3);
    }
  }

  async #react({ fault, pid }: Fired): Promise<void> {
    switch (fault.action) {
      case 'stop':
        this.restarts.continued++;
        setTimeout(() => this.#resume(pid), FROZEN_MS);
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

  #resume(pid: number): void {
    // Only a process that is still running under this supervisor: the system may have reused the pid.
    if ([...this.#running].some((each) => each.pid === pid)) process.kill(pid, 'SIGCONT');
  }
}
