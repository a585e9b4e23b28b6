import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTemporalServer, type Say } from '../../dev/embedded';
import { startEmbeddedPostgres, type PostgresServer } from '../../dev/embedded/postgres';
import { findTemporal } from '../../dev/embedded/temporal-cli';
import type { TemporalServer } from '../../dev/embedded/temporal-server';
import { SEARCH_ATTRIBUTES } from '../../policy/contracts/search-attributes';

export const NAMESPACE = 'default';

/** Temporal with a database file and a durable PostgreSQL. Each can be killed or stopped, and is restarted on the same port with the same data. */
export class Servers {
  private constructor(
    readonly stateDir: string,
    readonly cliPath: string,
    public temporal: TemporalServer,
    public postgres: PostgresServer,
  ) {}

  static async start(stateDir: string, say: Say): Promise<Servers> {
    // TEMPORAL_ADDRESS is ignored, because the sweep must only kill servers that it started.
    const found = await findTemporal(say, { ...process.env, TEMPORAL_ADDRESS: undefined });
    if (found.kind === 'address')
      throw new Error('Expected a Temporal CLI to start a server, got the address of a running one');
    const { cliPath } = found;
    const [temporal, postgres] = await Promise.all([
      startTemporal(stateDir, cliPath, 0),
      startEmbeddedPostgres({ stateDir, say: () => {}, port: 0 }),
    ]);
    return new Servers(stateDir, cliPath, temporal, postgres);
  }

  async killPostgres(): Promise<void> {
    const { pid } = this.postgres;
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    await this.#startPostgresAgain();
  }

  /** As for an upgrade: a fast shutdown, which ends all connections. */
  async restartPostgres(): Promise<void> {
    await this.postgres.stop();
    await this.#startPostgresAgain();
  }

  async #startPostgresAgain(): Promise<void> {
    const { port } = this.postgres;
    // Its child processes may keep the port and the shared memory for a short time.
    this.postgres = await retryStart(async () => {
      const server = await startEmbeddedPostgres({ stateDir: this.stateDir, say: () => {}, port });
      if (server.port === port) return server;
      await server.stop();
      throw new Error(`PostgreSQL started on port ${server.port}, expected ${port}`);
    });
  }

  async killTemporal(): Promise<void> {
    process.kill(this.temporal.pid, 'SIGKILL');
    await this.#startTemporalAgain();
  }

  async restartTemporal(): Promise<void> {
    await this.temporal.stop();
    await this.#startTemporalAgain();
  }

  async #startTemporalAgain(): Promise<void> {
    const { port } = this.temporal;
    this.temporal = await retryStart(async () => {
      const server = await startTemporal(this.stateDir, this.cliPath, port);
      if (server.port === port) return server;
      await server.stop();
      throw new Error(`The Temporal server started on port ${server.port}, expected ${port}`);
    });
  }

  async stop(): Promise<void> {
    await Promise.all([this.temporal.stop(), this.postgres.stop()]);
  }
}

function startTemporal(stateDir: string, cliPath: string, port: number): Promise<TemporalServer> {
  const dir = join(stateDir, 'temporal');
  return startTemporalServer({
    cliPath,
    dir,
    namespace: NAMESPACE,
    searchAttributes: SEARCH_ATTRIBUTES,
    port,
    uiPort: 0,
    say: () => {},
  });
}

async function retryStart<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      if (attempt === 20) throw error;
      await sleep(250);
    }
  }
}
