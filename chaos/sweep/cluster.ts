import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { Pool } from 'pg';
import type { Countersign } from '../../client/countersign';
import { startScriptedJudge } from '../../examples/demo/scripted-judge';
import { openDevClient, type DevClient } from '../../dev/client';
import { makeRepository, type GitRepository } from '../../dev/fixtures/git-repository';
import { startJsonApi, type JsonApi } from '../../dev/fixtures/json-api';
import { processEnvs } from '../../dev/process-envs';
import { setUpDev, type DevSetup } from '../../dev/setup';
import { startProcess, type RunningProcess } from '../../workers/start-process';
import type { Say } from '../../dev/embedded/processes';
import { extensionsOf } from '../../workers/extensions';
import { WORKFLOW_INTERCEPTORS } from '../../workers/workflow-bundle';
import { FaultController } from './armed-faults';
import type { WorkerRole } from '../../policy/contracts/queues';
import { Supervisor } from './supervisor';
import { BUNDLE, seedTarget, START_DOCUMENT, UNANSWERABLE } from './scenarios';
import { NAMESPACE, Servers } from './servers';

/** Real servers, five worker processes with failpoints, and a supervisor that restarts what a fault killed. */
export interface Cluster {
  readonly client: DevClient;
  readonly temporal: Client;
  readonly countersign: Countersign;
  readonly setup: DevSetup;
  readonly target: Pool;
  readonly database: Pool;
  readonly repository: GitRepository;
  readonly api: JsonApi;
  /** The writes that the API applied. */
  readonly apiWrites: readonly { readonly path: string; readonly at: Date }[];
  readonly faultController: FaultController;
  /** The reviews that are submitted and have not ended. */
  readonly openReviews: Set<string>;
  /** How often each process was restarted. */
  readonly restarts: Supervisor['restarts'];
  /** The workflow code of its workers. */
  readonly workflowBundle: string;
  stop(): Promise<void>;
}

export async function startCluster(stateDir: string, say: Say): Promise<Cluster> {
  const judge = await startScriptedJudge({
    script: (message) => {
      if (message.includes(UNANSWERABLE)) throw new Error('This scenario requires the judge to fail');
      return {};
    },
  });
  const servers = await Servers.start(stateDir, say);
  const [repository, api] = [makeRepository({}, stateDir), await startJsonApi(START_DOCUMENT)];
  // The log of the branch has the times at which it moved.
  repository.git('config', 'core.logAllRefUpdates', 'true');
  const apiWrites: { readonly path: string; readonly at: Date }[] = [];
  api.behaviour.afterWrite = () => apiWrites.push({ path: api.applied.at(-1) ?? '', at: new Date() });
  const setup = await setUpDev({
    runtime: { postgres: servers.postgres, stateDir },
    extensions: extensionsOf(),
    bundleText: BUNDLE,
    targets: [{ name: 'shop', seed: seedTarget }],
    otherTargets: [repository.target, api.target],
    say: () => {},
  });
  const faultController = new FaultController(join(stateDir, 'faults'));
  const urls = { temporal: servers.temporal.address, judge: judge.baseUrl };
  const workflowBundle = join(stateDir, 'workflow-bundle.js');
  await writeBundle(workflowBundle);
  const start = starter(setup, stateDir, workflowBundle, urls);
  const supervisor = new Supervisor(servers, faultController, start, say);
  await supervisor.begin();

  const client = await openDevClient({
    setup,
    temporalAddress: servers.temporal.address,
    namespace: NAMESPACE,
    applicationName: 'sweep',
  });
  const pools = {
    target: adminPool(setup.targetAdminUrls['shop'] ?? ''),
    database: adminPool(servers.postgres.superuserUrl('countersign')),
  };
  return {
    client,
    temporal: client.temporal,
    countersign: client.countersign,
    setup,
    ...pools,
    repository,
    api,
    apiWrites,
    faultController,
    openReviews: new Set(),
    restarts: supervisor.restarts,
    workflowBundle,
    async stop() {
      await supervisor.end();
      await client.close();
      await Promise.all([pools.target.end(), pools.database.end()]);
      await servers.stop();
      await Promise.all([judge.stop(), api.stop()]);
    },
  };
}

/** A pool with superuser rights. A connection lost with its server is replaced at the next query. */
function adminPool(connectionString: string): Pool {
  const pool = new Pool({ connectionString, max: 4, connectionTimeoutMillis: 5_000 });
  pool.on('error', () => {}); // An idle connection was lost with its server; the next query opens a new one.
  return pool;
}

async function writeBundle(path: string): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: require.resolve('../../workflows/index'),
    payloadConverterPath: require.resolve('../../workflows/payload-converter'),
    workflowInterceptorModules: [...WORKFLOW_INTERCEPTORS, require.resolve('./short-timeouts')],
    logger: new DefaultLogger('ERROR'),
  });
  writeFileSync(path, code);
}

function starter(
  setup: DevSetup,
  stateDir: string,
  bundle: string,
  urls: { readonly temporal: string; readonly judge: string },
): (role: WorkerRole) => Promise<RunningProcess> {
  const logDir = join(stateDir, 'logs');
  mkdirSync(logDir, { recursive: true });
  const { review, judge, commit } = processEnvs(setup, { temporalAddress: urls.temporal, namespace: NAMESPACE });
  const common = { LOG_LEVEL: 'error', SWEEP_DIR: join(stateDir, 'faults'), SWEEP_BUNDLE: bundle };
  const envs: Record<WorkerRole, Record<string, string>> = {
    review,
    judge: { ...judge, OPENAI_API_KEY: 'scripted', OPENAI_BASE_URL: urls.judge },
    commit,
  };
  const script = join(__dirname, 'worker.js');
  return (role) => startProcess(role, { ...common, ...envs[role], SWEEP_ROLE: role }, logDir, () => {}, script);
}
