import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SEARCH_ATTRIBUTES } from '../policy/contracts/search-attributes';
import { freePort } from './embedded/places';
import { isLocked } from './embedded/lock-file';
import { lockPath, startRuntime, type Runtime, type RuntimeOptions } from './embedded/runtime';
import type { Say } from './embedded/processes';
import { ConfigError } from '../workers/config-error';
import { CLI_ENV_FILE } from '../workers/env-file';
import { loadExtensions } from '../workers/extensions';
import { writeLocalClient } from '../workers/local-client';
import { startProcess, type ProcessName, type RunningProcess } from '../workers/start-process';
import { processEnvs } from './process-envs';
import { setUpDev, type DevSetup, type DevTarget } from './setup';

export interface DevOptions {
  readonly stateDir: string;
  readonly say: Say;
  readonly bundleText: string;
  readonly targets: readonly DevTarget[];
  /** Targets other than databases, as in the targets file. */
  readonly otherTargets?: readonly object[];
  /** The model that the judge worker asks. Without it the judge cannot answer, and a person is asked. */
  readonly judge?: { readonly baseUrl: string; readonly apiKey: string };
  /** Modules for review worker and committer (COUNTERSIGN_EXTENSIONS). */
  readonly extensions?: string;
  /** 0: any free port. Default: 8077, or another one if it is in use. */
  readonly gatewayPort?: number;
  /** Replaces unknown passwords of the roles of a server that was not started here; default false. */
  readonly rotate?: boolean;
  /** Arguments of node for each process. */
  readonly nodeArguments?: readonly string[];
  /** Further variables of single processes. */
  readonly variables?: Readonly<Partial<Record<ProcessName, Readonly<Record<string, string>>>>>;
  /** Tenants that the gateway serves; default `default`. */
  readonly tenant?: string;
  readonly runtime?: Partial<
    Pick<RuntimeOptions, 'uiPort' | 'temporalPort' | 'postgresPort' | 'fast' | 'handleSignals' | 'env'>
  >;
}

export interface Dev {
  readonly runtime: Runtime;
  readonly setup: DevSetup;
  readonly gatewayUrl: string;
  /** The page of approvers. On localhost, since browsers accept no passkeys for 127.0.0.1. */
  readonly inboxUrl: string;
  readonly processes: Readonly<Record<ProcessName, RunningProcess>>;
  /** Starts a process again after it has ended; `more` overrides variables of its environment. */
  restart(name: ProcessName, more?: Readonly<Record<string, string>>): Promise<RunningProcess>;
  /** Starts one more worker of a kind. It is stopped with the others. */
  another(name: Exclude<ProcessName, 'gateway'>): Promise<RunningProcess>;
  stop(): Promise<void>;
}

/**
 * Starts Temporal, PostgreSQL, the three workers and the gateway in one process tree, each with only the secrets it needs. Throws
 * ConfigError, before anything is changed, for a directory of `countersign init` and for a `gatewayPort` that is in use.
 */
export async function startDev(options: DevOptions): Promise<Dev> {
  const { say, stateDir } = options;
  refuseInitialized(stateDir);
  await refuseBusyPort(stateDir, options.gatewayPort);
  const runtime = await startRuntime({ stateDir, say, searchAttributes: SEARCH_ATTRIBUTES, ...options.runtime });
  try {
    const extensions = await loadExtensions(options.extensions ?? '');
    const setup = await setUpDev({
      runtime,
      extensions,
      bundleText: options.bundleText,
      targets: options.targets,
      otherTargets: options.otherTargets ?? [],
      rotate: options.rotate ?? false,
      say,
    });
    const isNamed = options.gatewayPort !== undefined && options.gatewayPort !== ANY_PORT;
    const gatewayPort = isNamed ? options.gatewayPort : await freePort(options.gatewayPort ?? DEFAULT_PORT);
    if (options.gatewayPort === undefined && gatewayPort !== DEFAULT_PORT)
      say(`Gateway: port ${DEFAULT_PORT} is in use, so it listens on ${gatewayPort}`);
    const envs = environments(runtime, setup, options, gatewayPort);
    const logDir = join(stateDir, 'logs');
    mkdirSync(logDir, { recursive: true });
    const processes = {} as Record<ProcessName, RunningProcess>;
    const started: RunningProcess[] = [];
    const another = async (name: ProcessName, more: Readonly<Record<string, string>> = {}): Promise<RunningProcess> => {
      const env = { ...envs[name], ...options.variables?.[name], ...more };
      const each = await startProcess(name, env, logDir, say, undefined, options.nodeArguments);
      started.push(each);
      return each;
    };
    const start = async (name: ProcessName, more?: Readonly<Record<string, string>>): Promise<RunningProcess> =>
      (processes[name] = await another(name, more));
    // Stopping a process that has ended is a no-op.
    runtime.beforeStop(async () => void (await Promise.all(started.map((each) => each.stop()))));
    rememberClient(runtime, setup, options, gatewayPort);
    const names = Object.keys(envs) as ProcessName[];
    await Promise.all(names.map((name) => start(name)));
    say(`Workers: ${names.map((name) => `${name} (process ${processes[name].pid})`).join(', ')}; logs in ${logDir}`);
    return {
      runtime,
      setup,
      gatewayUrl: `http://127.0.0.1:${gatewayPort}`,
      inboxUrl: `http://localhost:${gatewayPort}/inbox/`,
      processes,
      restart: start,
      another: (name) => another(name),
      stop: () => runtime.stop(),
    };
  } catch (error) {
    await runtime.stop();
    throw error;
  }
}

const DEFAULT_PORT = 8077;
const ANY_PORT = 0;

/** Another port than the one that was asked for would be a surprise: another server listens on that one. */
async function refuseBusyPort(stateDir: string, port: number | undefined): Promise<void> {
  if (port === undefined || port === ANY_PORT || (await freePort(port)) === port) return;
  // The servers of this directory run already: `startRuntime` says so.
  if (isLocked(lockPath(stateDir))) return;
  throw new ConfigError(`Port ${port} of 127.0.0.1 is in use. Stop what listens there, or choose another port`);
}

/** Its trust roots and targets would be replaced by those of the demo keys. */
function refuseInitialized(stateDir: string): void {
  if (!existsSync(join(stateDir, CLI_ENV_FILE))) return;
  throw new ConfigError(
    `${stateDir} was made by "countersign init", and its keys and settings would be replaced; set COUNTERSIGN_STATE_DIR to another directory`,
  );
}

function rememberClient(runtime: Runtime, setup: DevSetup, options: DevOptions, gatewayPort: number): void {
  writeLocalClient(runtime.stateDir, {
    temporalAddress: runtime.temporalAddress,
    namespace: runtime.namespace,
    databaseUrl: setup.databaseUrls.cs_gateway,
    operatorDatabaseUrl: setup.databaseUrls.cs_operator,
    gatewayUrl: `http://127.0.0.1:${gatewayPort}`,
    tenant: options.tenant ?? 'default',
    operators: [setup.keys.operator.key.publicKey],
    committers: [setup.keys.committer.key.publicKey],
    extensions: options.extensions ?? '',
  });
}

function environments(
  runtime: Runtime,
  setup: DevSetup,
  options: DevOptions,
  gatewayPort: number,
): Record<ProcessName, Record<string, string>> {
  const { review, judge, commit, gateway } = processEnvs(setup, runtime);
  const extensions = { COUNTERSIGN_EXTENSIONS: options.extensions ?? '' };
  const model =
    options.judge === undefined ? {} : { OPENAI_API_KEY: options.judge.apiKey, OPENAI_BASE_URL: options.judge.baseUrl };
  return {
    review: { ...review, ...extensions },
    judge: { ...judge, ...extensions, ...model },
    commit: { ...commit, ...extensions },
    gateway: {
      ...gateway,
      ...extensions,
      COUNTERSIGN_GATEWAY_PORT: String(gatewayPort),
      ...(runtime.uiUrl === undefined ? {} : { COUNTERSIGN_TEMPORAL_UI_URL: runtime.uiUrl }),
    },
  };
}
