import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { msToTs } from '@temporalio/common/lib/time';
import { type HeldLock, type LockHolder, tryLock } from './lock-file';
import type { Env } from './places';
import { type PostgresServer, startEmbeddedPostgres, useExistingPostgres } from './postgres';
import type { Say } from './processes';
import { type SearchAttributes, registerSearchAttributes } from '../../workers/register-search-attributes';
import { findTemporal } from './temporal-cli';
import { openConnection } from '../../workers/temporal';
import { startTemporalServer, stopLeftTemporal, waitForTemporal } from './temporal-server';

/** What to start and where to keep it. Ports are wishes: remembered from the last run, else these, else Temporal's usual ones, else free ones. */
export interface RuntimeOptions {
  readonly stateDir: string;
  readonly say: Say;
  readonly searchAttributes: SearchAttributes;
  readonly temporalPort?: number;
  readonly uiPort?: number;
  readonly postgresPort?: number;
  /** Gives up PostgreSQL's durability; for tests. */
  readonly fast?: boolean;
  /** Ends this process (130 or 143) after an orderly stop on SIGINT, SIGTERM and SIGHUP; true unless said otherwise. */
  readonly handleSignals?: boolean;
  readonly env?: Env;
}

/** The servers that Countersign needs, running. */
export interface Runtime {
  readonly temporalAddress: string;
  readonly namespace: string;
  /** Undefined for a server of yours (TEMPORAL_ADDRESS), unless TEMPORAL_UI_URL says where its UI is. */
  readonly uiUrl: string | undefined;
  /** Undefined when the server is yours and no Temporal CLI is on this machine. */
  readonly temporalCliPath: string | undefined;
  readonly postgres: PostgresServer;
  readonly stateDir: string;
  /** Adds something to stop before the servers (workers, gateway); the last added is stopped first. */
  beforeStop(stop: () => Promise<void>): void;
  /** Stops everything this runtime started, each step bounded; idempotent. Throws, after all steps, what went wrong in them. */
  stop(): Promise<void>;
}

/** Thrown when another process runs on the same state directory. */
export class RuntimeInUse extends Error {
  constructor(
    readonly stateDir: string,
    readonly holder: LockHolder,
  ) {
    const { uiUrl } = holder.facts;
    super(
      `Countersign runs already on ${stateDir}, as process ${holder.pid}${uiUrl === undefined ? ' (still starting)' : `, Temporal UI ${uiUrl}`}. ` +
        'Stop that one first (Ctrl-C there), or use another state directory.',
    );
    this.name = 'RuntimeInUse';
  }
}

const STEP_MS = 30_000;
const RETENTION = '30 days';

/**
 * Starts (or finds) Temporal and PostgreSQL for a state directory. One at a time per directory: a second call while one is up throws `RuntimeInUse`;
 * what a killed run left is stopped first, recognised by pid and command line. When a part does not start, what did start is stopped again.
 * `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE` and `COUNTERSIGN_DATABASE_ADMIN_URL` put servers of yours in place of ours.
 */
export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  const stateDir = resolve(options.stateDir);
  mkdirSync(stateDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const lock = tryLock(join(stateDir, 'lock.json'));
  if (lock.kind === 'busy') throw new RuntimeInUse(stateDir, lock.holder);

  const stops: (() => Promise<void>)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopAll(stops, lock));
  const forgetSignals = options.handleSignals === false ? () => {} : stopOnSignals(stop, options.say);
  stops.push(async () => forgetSignals());
  try {
    await stopLeftTemporal(join(stateDir, 'temporal'), options.say);
    const [temporal, postgres] = await bothOrNeither(
      startTemporal(options, stateDir, stops),
      startPostgres(options, stateDir, stops),
    );
    const facts = {
      ...temporal.facts,
      ...(postgres.pid === undefined ? {} : { postgresPid: postgres.pid, postgresPort: postgres.port }),
    };
    lock.update(facts);
    rememberPorts(stateDir, facts);
    return { ...temporal.runtime, postgres, stateDir, stop, beforeStop: (each) => void stops.push(each) };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Facts = Record<string, string | number>;
type TemporalPart = {
  readonly runtime: Pick<Runtime, 'temporalAddress' | 'namespace' | 'uiUrl' | 'temporalCliPath'>;
  readonly facts: Facts;
};

async function startTemporal(
  options: RuntimeOptions,
  stateDir: string,
  stops: (() => Promise<void>)[],
): Promise<TemporalPart> {
  const { say, searchAttributes, env = process.env } = options;
  const namespace = env['TEMPORAL_NAMESPACE'] ?? 'default';
  const found = await findTemporal(say, env);
  if (found.kind === 'address') {
    // The server's own TLS and API key variables hold for it, and for it alone.
    await waitForTemporal(found.address, namespace, 15_000, env);
    await registerOn(found.address, namespace, searchAttributes, say, env);
    const uiUrl = env['TEMPORAL_UI_URL'];
    return {
      runtime: { temporalAddress: found.address, namespace, uiUrl, temporalCliPath: found.cliPath },
      facts: uiUrl === undefined ? {} : { uiUrl },
    };
  }
  const last = rememberedPorts(stateDir);
  const server = await startTemporalServer({
    cliPath: found.cliPath,
    dir: join(stateDir, 'temporal'),
    namespace,
    searchAttributes,
    port: options.temporalPort ?? last.temporalPort ?? 7233,
    uiPort: options.uiPort ?? last.uiPort ?? 8233,
    say,
  });
  stops.push(server.stop);
  // The dev server registers at the birth of its namespace; a database file of an older version of ours may lack some.
  await registerOn(server.address, namespace, searchAttributes, say);
  await keepClosedReviews(server.address, namespace);
  return {
    runtime: { temporalAddress: server.address, namespace, uiUrl: server.uiUrl, temporalCliPath: found.cliPath },
    facts: { temporalPid: server.pid, temporalPort: server.port, uiPort: server.uiPort, uiUrl: server.uiUrl },
  };
}

// The dev server forgets a closed workflow after a day; whoever looks at last week's demo should still find it.
async function keepClosedReviews(address: string, namespace: string): Promise<void> {
  const connection = await openConnection({ TEMPORAL_ADDRESS: address });
  try {
    await connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: msToTs(RETENTION) },
    });
  } finally {
    await connection.close();
  }
}

async function registerOn(
  address: string,
  namespace: string,
  attributes: SearchAttributes,
  say: Say,
  env: Env = {},
): Promise<void> {
  const connection = await openConnection({ ...env, TEMPORAL_ADDRESS: address });
  try {
    const { added } = await registerSearchAttributes(connection, namespace, attributes);
    if (added.length > 0) say(`Temporal: registered the search attributes ${added.join(', ')}`);
  } finally {
    await connection.close();
  }
}

async function startPostgres(
  options: RuntimeOptions,
  stateDir: string,
  stops: (() => Promise<void>)[],
): Promise<PostgresServer> {
  const { say, env = process.env } = options;
  const adminUrl = env['COUNTERSIGN_DATABASE_ADMIN_URL'];
  const server =
    adminUrl === undefined || adminUrl === ''
      ? await startEmbeddedPostgres({
          stateDir,
          say,
          env,
          fast: options.fast ?? false,
          port: options.postgresPort ?? rememberedPorts(stateDir).postgresPort,
        })
      : await useExistingPostgres(adminUrl, say);
  stops.push(server.stop);
  return server;
}

// Both run to their end before an error goes up: a server that is still starting could not be stopped.
async function bothOrNeither<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  const [first, second] = await Promise.allSettled([a, b]);
  if (first.status === 'rejected') throw first.reason;
  if (second.status === 'rejected') throw second.reason;
  return [first.value, second.value];
}

// The last added is stopped first; one that fails or hangs does not keep the others from being stopped.
async function stopAll(stops: (() => Promise<void>)[], lock: HeldLock): Promise<void> {
  const failures: unknown[] = [];
  for (let each = stops.pop(); each !== undefined; each = stops.pop()) {
    try {
      await withinStep(each());
    } catch (error) {
      failures.push(error);
    }
  }
  lock.release();
  if (failures.length > 0)
    throw new AggregateError(
      failures,
      `Stopping left something undone: ${failures.map((each) => (each as Error).message).join('; ')}`,
    );
}

function withinStep(work: Promise<void>): Promise<void> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`a step did not end within ${STEP_MS / 1000} s`)), STEP_MS);
    work.then(done, fail).finally(() => clearTimeout(timer));
  });
}

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

// The first signal stops in order; a second one ends at once, and the exit hook of processes.ts still signals the servers.
// One Ctrl-C can arrive several times (the terminal signals the whole group, npm and scripts/run.mjs pass it on), hence the second of grace.
function stopOnSignals(stop: () => Promise<void>, say: Say): () => void {
  let askedAt: number | undefined;
  const listeners = Object.entries(SIGNALS).map(([signal, code]) => {
    const listener = (): void => {
      if (askedAt !== undefined) {
        if (Date.now() - askedAt > 1_000) process.exit(code);
        return;
      }
      askedAt = Date.now();
      say(`Stopping (${signal}); once more to stop at once`);
      stop()
        .catch((error: unknown) => say((error as Error).message))
        .finally(() => process.exit(code));
    };
    process.on(signal, listener);
    return [signal, listener] as const;
  });
  return () => {
    if (askedAt !== undefined) return; // While stopping on a signal, a second one must still be heard.
    for (const [signal, listener] of listeners) process.removeListener(signal, listener);
  };
}

type Ports = Partial<Record<'temporalPort' | 'uiPort' | 'postgresPort', number>>;

// Bookmarks and connection strings of the last run stay good where they can.
function rememberPorts(stateDir: string, facts: Facts): void {
  const ports = { ...rememberedPorts(stateDir), ...facts };
  const { temporalPort, uiPort, postgresPort } = ports as Ports;
  writeFileSync(join(stateDir, 'ports.json'), `${JSON.stringify({ temporalPort, uiPort, postgresPort })}\n`);
}

function rememberedPorts(stateDir: string): Ports {
  try {
    return JSON.parse(readFileSync(join(stateDir, 'ports.json'), 'utf8')) as Ports;
  } catch {
    return {}; // None yet, or half written by a killed run: only wishes are lost.
  }
}
