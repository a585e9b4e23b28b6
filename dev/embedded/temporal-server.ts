import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../client/errors';
import { retried } from '../../workers/retried';
import { withConnection } from '../../workers/temporal';
import { freePort, type Env } from './places';
import { ending, processesWith, type Say, stopOnExit, stopProcess } from './processes';
import type { SearchAttributes } from '../../workers/register-search-attributes';

// Measured: together these reduce a review from 348 ms to 78 ms on the dev server. They also lift limits of shared clusters.
const DYNAMIC_CONFIG: Readonly<Record<string, unknown>> = {
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'history.transferProcessorMaxPollRPS': 1000,
  'system.enableActivityEagerExecution': true,
  // A history is deleted after the position of these queues was stored behind its end. With the default of 30 s and the pauses between
  // retries that takes minutes.
  'history.transferProcessorUpdateAckInterval': '1s',
  'history.visibilityProcessorUpdateAckInterval': '1s',
  // Hands out the tasks of tenants in turn (workflows/fair-share.ts).
  'matching.enableFairness': true,
  'frontend.enableUpdateWorkflowExecution': true,
  'frontend.enableUpdateWorkflowExecutionAsyncAccepted': true,
  'frontend.enableExecuteMultiOperation': true,
  'frontend.rps': 20_000,
  'frontend.namespaceRPS': 20_000,
  'frontend.namespaceCount': 10_000,
  'history.rps': 20_000,
  'matching.rps': 20_000,
  'matching.persistenceMaxQPS': 20_000,
  // A run is ended by the server when its history is larger than the limit. Smaller payloads and a larger limit give a review the
  // time to continue as a new run while someone floods it. Its own payloads are far smaller.
  'limit.blobSize.warn': 256 * 1024,
  'limit.blobSize.error': 1024 * 1024,
  'limit.historySize.error': 256 * 1024 * 1024,
};
const SQLITE_PRAGMAS = ['journal_mode=wal', 'synchronous=normal'];

/** What to start. `dir` has the database file and the log. Ports are preferences: another one is used if one is taken. */
interface TemporalServerOptions {
  readonly cliPath: string;
  readonly dir: string;
  readonly namespace: string;
  readonly searchAttributes: SearchAttributes;
  readonly port?: number | undefined;
  readonly uiPort?: number | undefined;
  readonly say: Say;
}

/** A Temporal dev server on loopback. `stop` is idempotent and keeps the database file. */
export interface TemporalServer {
  readonly address: string;
  readonly port: number;
  readonly uiPort: number;
  readonly uiUrl: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Stops the servers that killed runs left on `dir`, found by their command line. */
export async function stopLeftTemporal(dir: string, say: Say): Promise<void> {
  for (const pid of processesWith(['start-dev', `--db-filename ${databaseFile(dir)} `])) {
    say(`Temporal: a run that was killed left its server behind (pid ${pid}); stopping it`);
    await stopServer(pid, dir);
  }
}

// The path of the database file is in the server's command line and identifies the server.
function databaseFile(dir: string): string {
  return join(dir, 'temporal.db');
}

async function stopServer(pid: number, dir: string): Promise<void> {
  if (!(await stopProcess(pid, databaseFile(dir), ['SIGTERM', 'SIGINT'], 10_000)))
    throw new Error(`The Temporal server (pid ${pid}) does not end`);
}

/**
 * Starts `temporal server start-dev` on loopback with its database in `dir`, and waits until it answers and has its namespace (30 s).
 * Throws with the end of its log if it does not start. If another process takes a port meanwhile, other ports are tried.
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  for (let attempt = 1; ; attempt++) {
    const first = attempt === 1;
    const port = await freePort(first ? options.port : undefined);
    const uiPort = await freePort(first ? options.uiPort : undefined);
    const outcome = await startOnce(options, port, uiPort);
    if (outcome.kind === 'up') return outcome.server;
    // The whole log: a server that loses one of its internal ports prints long stacks after the reason.
    if (attempt === 3 || !/address already in use|bind/i.test(outcome.log)) {
      throw new Error(
        `The Temporal server did not start (${outcome.why}). The end of ${outcome.logFile}:\n${outcome.log.slice(-1_500)}`,
      );
    }
  }
}

type Outcome =
  | { readonly kind: 'up'; readonly server: TemporalServer }
  | { readonly kind: 'down'; readonly why: string; readonly log: string; readonly logFile: string };

async function startOnce(options: TemporalServerOptions, port: number, uiPort: number): Promise<Outcome> {
  const { cliPath, dir, namespace, say } = options;
  const database = databaseFile(dir);
  const logFile = join(dir, 'temporal.log');
  const log = openSync(logFile, 'w', 0o600);
  // In a separate process group: Ctrl-C must not stop the server before the workers have drained.
  const child = spawn(cliPath, serverArgs(options, database, port, uiPort), {
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  stopOnExit(child, 'SIGTERM');
  const pid = child.pid ?? 0;
  const address = `127.0.0.1:${port}`;
  const answer = await Promise.race([
    ending(child),
    waitForTemporal(address, namespace, 30_000).then(
      () => 'up',
      (error: Error) => error.message,
    ),
  ]);
  const stop = (): Promise<void> => stopServer(pid, dir);
  if (answer !== 'up') {
    await stop();
    return { kind: 'down', why: answer, log: readFileSync(logFile, 'utf8'), logFile };
  }
  const uiUrl = `http://127.0.0.1:${uiPort}`;
  say(`Temporal: server at ${address}, UI at ${uiUrl}, data in ${database}`);
  return { kind: 'up', server: { address, port, uiPort, uiUrl, pid, stop } };
}

function serverArgs(options: TemporalServerOptions, database: string, port: number, uiPort: number): string[] {
  const fixed =
    `server start-dev --ip 127.0.0.1 --ui-ip 127.0.0.1 --port ${port} --ui-port ${uiPort} --log-level warn`.split(' ');
  return [
    ...fixed,
    '--namespace',
    options.namespace,
    '--db-filename',
    database,
    ...SQLITE_PRAGMAS.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ...Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => [
      '--dynamic-config-value',
      `${key}=${JSON.stringify(value)}`,
    ]),
    ...Object.entries(options.searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
  ];
}

/** Waits until a server answers at `address` and knows the namespace; throws after `timeoutMs` with the last reason. */
export async function waitForTemporal(
  address: string,
  namespace: string,
  timeoutMs: number,
  env: Env = {},
): Promise<void> {
  const until = Date.now() + timeoutMs;
  const count = async (): Promise<void> => {
    const connectTimeout = Math.max(1_000, Math.min(5_000, until - Date.now()));
    // A count goes by the front end's list of namespaces, as every later call does; that list can lag seconds behind
    // `describeNamespace` on a server of several processes (seen on 1.32.1).
    await withConnection(
      { ...env, TEMPORAL_ADDRESS: address },
      (connection) =>
        connection.withDeadline(Date.now() + 5_000, () =>
          connection.workflowService.countWorkflowExecutions({ namespace }),
        ),
      connectTimeout,
    );
  };
  await retried(count, () => true, { everyMs: 100, withinMs: timeoutMs }).catch((error: unknown) => {
    throw new Error(`No Temporal server answers at ${address} for namespace ${namespace}: ${messageOf(error)}`);
  });
}
