import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isGrpcServiceError } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { messageOf } from '../../client/errors';
import { type HeldLock, type LockHolder, tryLock } from './lock-file';
import type { Env } from './places';
import { type PostgresServer, startEmbeddedPostgres, useExistingPostgres } from './postgres';
import type { Say } from './processes';
import { ConfigError } from '../../workers/config-error';
import { onStopSignal } from '../../workers/on-stop-signal';
import { type SearchAttributes, registerSearchAttributes } from '../../workers/register-search-attributes';
import { retried } from '../../workers/retried';
import { findTemporal } from './temporal-cli';
import { withConnection } from '../../workers/temporal';
import { startTemporalServer, stopLeftTemporal, waitForTemporal } from './temporal-server';

/** What to start, and where its state is. Preferred ports: these, else those of the last run, else Temporal's defaults, else any free port. */
export interface RuntimeOptions {
  readonly stateDir: string;
  readonly say: Say;
  readonly searchAttributes: SearchAttributes;
  readonly temporalPort?: number;
  readonly uiPort?: number;
  readonly postgresPort?: number;
  /** Turns PostgreSQL's durability off, for tests. */
  readonly fast?: boolean;
  /** On SIGINT, SIGTERM and SIGHUP, stops in order and exits with 130, 143 or 129; default true. */
  readonly handleSignals?: boolean;
  readonly env?: Env;
}

/** The servers that Countersign needs, running. */
export interface Runtime {
  readonly temporalAddress: string;
  readonly namespace: string;
  /** Undefined for an existing server (TEMPORAL_ADDRESS) without TEMPORAL_UI_URL. */
  readonly uiUrl: string | undefined;
  /** Undefined for an existing server, if no Temporal CLI is installed. */
  readonly temporalCliPath: string | undefined;
  readonly postgres: PostgresServer;
  readonly stateDir: string;
  /** Adds something to stop before the servers (workers, gateway); the last added is stopped first. */
  beforeStop(stop: () => Promise<void>): void;
  /** Stops everything this runtime started, each step bounded; idempotent. Throws, after all steps, what went wrong in them. */
  stop(): Promise<void>;
}

/** Another process uses the same state directory. */
export class RuntimeInUse extends Error {
  constructor(
    readonly stateDir: string,
    readonly holder: LockHolder,
  ) {
    const { uiUrl } = holder.facts;
    super(
      `Countersign already runs on ${stateDir}, as process ${holder.pid}${uiUrl === undefined ? ' (still starting)' : `, Temporal UI ${uiUrl}`}. ` +
        'Stop that one first (Ctrl-C there), or use another state directory.',
    );
    this.name = 'RuntimeInUse';
  }
}

const STEP_MS = 30_000;
const RETENTION = '30 days';

/**
 * Starts Temporal and PostgreSQL for a state directory. Throws `RuntimeInUse` if another process uses the directory. Servers
 * that a killed run left are stopped first, found by pid and command line. If one part does not start, the other is stopped.
 * TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and COUNTERSIGN_DATABASE_ADMIN_URL select existing servers instead.
 */
export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  const stateDir = resolve(options.stateDir);
  makeStateDir(stateDir);
  const lock = tryLock(lockPath(stateDir));
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

export function lockPath(stateDir: string): string {
  return join(stateDir, 'lock.json');
}

function makeStateDir(stateDir: string): void {
  try {
    mkdirSync(stateDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    accessSync(stateDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(
      `The servers cannot keep their data in ${stateDir}: ${messageOf(error)}. Set COUNTERSIGN_STATE_DIR to a directory that you can write`,
    );
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
    // TLS and API key variables apply to this server only.
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
  // The dev server registers them when it creates the namespace; a database file of an older version may lack some.
  await whileStarting(() => registerOn(server.address, namespace, searchAttributes, say));
  await whileStarting(() => keepClosedReviews(server.address, namespace));
  return {
    runtime: { temporalAddress: server.address, namespace, uiUrl: server.uiUrl, temporalCliPath: found.cliPath },
    facts: { temporalPid: server.pid, temporalPort: server.port, uiPort: server.uiPort, uiUrl: server.uiUrl },
  };
}

// A server that has just started can fail single calls although others were answered: its services start one by one.
function whileStarting(call: () => Promise<void>): Promise<void> {
  return retried(call, isGrpcServiceError, { withinMs: STEP_MS });
}

// The dev server drops closed workflows after a day; the demo of last week should still be there.
async function keepClosedReviews(address: string, namespace: string): Promise<void> {
  const config = { workflowExecutionRetentionTtl: msToTs(RETENTION) };
  await withConnection({ TEMPORAL_ADDRESS: address }, ({ workflowService }) =>
    workflowService.updateNamespace({ namespace, config }),
  );
}

async function registerOn(
  address: string,
  namespace: string,
  attributes: SearchAttributes,
  say: Say,
  env: Env = {},
): Promise<void> {
  const { added } = await withConnection({ ...env, TEMPORAL_ADDRESS: address }, (connection) =>
    registerSearchAttributes(connection, namespace, attributes),
  );
  if (added.length > 0) say(`Temporal: registered the search attributes ${added.join(', ')}`);
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

// Waits for both before it throws: a server that is still starting cannot be stopped.
async function bothOrNeither<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  const [first, second] = await Promise.allSettled([a, b]);
  if (first.status === 'rejected') throw first.reason;
  if (second.status === 'rejected') throw second.reason;
  return [first.value, second.value];
}

// Stops in reverse order. A step that fails or hangs does not prevent the others.
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
      `Stopping was incomplete: ${failures.map((each) => (each as Error).message).join('; ')}`,
    );
}

function withinStep(work: Promise<void>): Promise<void> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`a step did not end within ${STEP_MS / 1000} s`)), STEP_MS);
    work.then(done, fail).finally(() => clearTimeout(timer));
  });
}

// The exit hook of processes.ts signals the servers if a second signal ends this process at once.
function stopOnSignals(stop: () => Promise<void>, say: Say): () => void {
  return onStopSignal((signal, exitCode) => {
    say(`Stopping (${signal}); once more to stop at once`);
    stop()
      .catch((error: unknown) => say((error as Error).message))
      .finally(() => process.exit(exitCode));
  });
}

type Ports = Partial<Record<'temporalPort' | 'uiPort' | 'postgresPort', number>>;

// Ports are kept between runs, so that bookmarks and connection strings stay valid.
function rememberPorts(stateDir: string, facts: Facts): void {
  const ports = { ...rememberedPorts(stateDir), ...facts };
  const { temporalPort, uiPort, postgresPort } = ports as Ports;
  writeFileSync(join(stateDir, 'ports.json'), `${JSON.stringify({ temporalPort, uiPort, postgresPort })}\n`);
}

function rememberedPorts(stateDir: string): Ports {
  try {
    return JSON.parse(readFileSync(join(stateDir, 'ports.json'), 'utf8')) as Ports;
  } catch {
    return {}; // No file yet, or a partial one of a killed run: only preferences are lost.
  }
}
