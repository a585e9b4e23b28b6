import { join } from 'node:path';
import { startTemporalServer, type TemporalServer } from '../../dev/embedded/temporal-server';
import type { Say } from '../../dev/embedded/processes';
import { startEmbeddedPostgres, type PostgresServer } from '../../dev/embedded/postgres';
import { findTemporal } from '../../dev/embedded/temporal-cli';
import { retried } from '../../workers/retried';
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
    this.postgres = await onPort(this.postgres.port, (port) =>
      startEmbeddedPostgres({ stateDir: this.stateDir, say: () => {}, port }),
    );
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
    this.temporal = await onPort(this.temporal.port, (port) => startTemporal(this.stateDir, this.cliPath, port));
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

/** Processes that a server leaves behind may keep its port and its shared memory for a short time. */
function onPort<S extends PostgresServer | TemporalServer>(
  port: number,
  start: (port: number) => Promise<S>,
): Promise<S> {
  return retried(async () => {
    const server = await start(port);
    if (server.port === port) return server;
    await server.stop();
    throw new Error(`A server started on port ${server.port}, expected ${port}`);
  });
}
