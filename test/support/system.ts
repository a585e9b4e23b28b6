import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { DefaultLogger, makeTelemetryFilterString, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { Client as PgClient } from 'pg';
import { Countersign } from '../../client/countersign';
import { CountersignError } from '../../client/errors';
import type { ReviewResult } from '../../client/result';
import type { Submitted } from '../../client/review-calls';
import type { SubmitInput } from '../../client/submission';
import { createSigner } from '../../client/signer';
import { signAnswers } from '../../client/sign-answers';
import type { AnswerResults, Decision } from '../../policy/contracts/answer';
import type { Envelope } from '../../policy/contracts/diff';
import type { BreakerParameters } from '../../policy/decide/breaker';
import type { ReviewStatus } from '../../policy/contracts/status';
import { signPredicate } from '../../signing/envelope';
import type { LoadedKey } from '../../signing/key-file';
import { clientLedger } from '../../workers/client-ledger';
import { readTargets } from '../../workers/config';
import { temporalBreakers } from '../../workers/breakers';
import { setUpDev, type DevSetup, type DevTarget } from '../../dev/setup';
import type { DemoKeyName } from '../../dev/demo-keys';
import type { TargetConfig } from '../../activities/committer/targets';
import { useExistingPostgres } from '../../dev/embedded';
import type { StoredRow } from '../../policy/evidence/chain';
import type { KeyLabel } from '../../signing/key-file';
import { newKeyPair, type SigningKey } from '../../signing/keys';
import { signKeyEntry, signKeyRevocation } from '../../signing/registry-entry';
import { createKeyRegistry } from '../../storage/keys/key-registry';
import { openDatabase } from '../../storage/database/database';
import { extensionsOf, type Extension, type Extensions } from '../../workers/extensions';
import { createLogger } from '../../workers/logger';
import { openResources, type Resources } from '../../workers/resources';
import { commitActivities } from '../../workers/roles/commit';
import { judgeActivities } from '../../workers/roles/judge';
import { reviewActivities } from '../../workers/roles/review';
import { workerOptions } from '../../workers/run-worker';
import { TASK_QUEUES } from '../../policy/contracts/queues';

export type WorkerName = 'review' | 'judge' | 'commit';

export interface SystemOptions {
  readonly name: string;
  readonly bundleText: string;
  readonly extension?: Extension;
  readonly judge?: { readonly baseUrl: string };
  /** Targets beside the database `shop`. */
  readonly targets?: readonly TargetConfig[];
  /** SQL that fills the target database `shop`. */
  readonly shopSql?: string;
  /** Workers to start; all unless told. */
  readonly workers?: readonly WorkerName[];
  /** Wraps the activities of a worker before it starts: failpoints, spies. */
  readonly wrap?: (worker: WorkerName, activities: object) => object;
  /** Ports of proxies in front of PostgreSQL: our own database's, the target's. */
  readonly through?: { readonly countersign?: number; readonly target?: number };
  /** Circuit breakers are off unless given; these are their parameters. */
  readonly breakers?: { readonly parameters: BreakerParameters; readonly continueAfter?: number };
  /** A server of the test's own. */
  readonly temporalAddress?: string;
  /** Of the client and of all workers. */
  readonly payloadCodec?: PayloadCodec;
}

export type TestKey = SigningKey & KeyLabel;

/** Everything of ours in this process, on real servers: own databases, own family of queues. */
export interface System {
  readonly temporal: Client;
  readonly countersign: Countersign;
  readonly setup: DevSetup;
  readonly extensions: Extensions;
  readonly suffix: string;
  readonly resources: Readonly<Record<WorkerName, Resources>>;
  readonly activities: Readonly<Record<WorkerName, object>>;
  key(name: DemoKeyName): LoadedKey;
  /** Submits under a request key of its own: the server outlives a test run, and the same change twice is the same review. */
  submit(input: Omit<SubmitInput, 'target'> & Partial<Pick<SubmitInput, 'target'>>): Promise<Submitted>;
  startWorker(name: WorkerName): Promise<void>;
  /** Graceful; resolves when it has stopped. */
  stopWorker(name: WorkerName): Promise<void>;
  /** A superuser's query on the target. */
  shop<R extends Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<R[]>;
  /** Whether violations are disclosed, or it ended: asks the ledger, since each question to a workflow costs a task. */
  isTold(changeId: string): Promise<boolean>;
  /** Waits until the violations are disclosed, at most 60 s. */
  waiting(changeId: string): Promise<ReviewStatus>;
  sign(
    status: ReviewStatus,
    person: DemoKeyName | TestKey,
    decision: Decision,
    violations?: readonly string[],
  ): Envelope[];
  /** Signs and sends for every violation, by update. */
  answer(changeId: string, person: DemoKeyName, decision: Decision): Promise<AnswerResults>;
  /** Waits for the end, at most 20 s. */
  ended(changeId: string): Promise<Exclude<ReviewResult, { state: 'PENDING' | 'ABORTED' }>>;
  ledger(changeId: string): Promise<readonly StoredRow[]>;
  /** A client that submits with another service key, or with none. */
  client(serviceKey: (SigningKey & { readonly onBehalfOf?: string | null }) | null): Countersign;
  /** Registers a key, signed by the operator. */
  addKey(label: Pick<KeyLabel, 'kind' | 'subject'> & Partial<KeyLabel>): Promise<TestKey>;
  revokeKey(keyId: string): Promise<void>;
  close(): Promise<void>;
}

export async function startSystem(options: SystemOptions): Promise<System> {
  quietRuntime();
  const address = options.temporalAddress ?? process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '127.0.0.1:7233';
  const namespace = process.env['COUNTERSIGN_TEST_NAMESPACE'] ?? 'default';
  const suffix = `-${options.name}-${process.pid}-${Date.now().toString(36)}`;
  const stateDir = mkdtempSync(join(tmpdir(), 'countersign-system-'));
  const postgres = await useExistingPostgres(process.env['COUNTERSIGN_TEST_POSTGRES'] ?? '', () => {});
  const unique = suffix.replaceAll('-', '_');
  const target: DevTarget = {
    name: 'shop',
    database: `shop${unique}`,
    schemas: ['public'],
    seed: (url) => withPg(url, async (pg) => void (await pg.query(options.shopSql ?? 'select 1'))),
  };
  const extensions = extensionsOf(options.extension === undefined ? [] : [options.extension]);
  // Roles belong to the whole server: two files that set up at once would fail on each other's.
  const setup = await alone(() =>
    setUpDev({
      runtime: { postgres, stateDir },
      extensions,
      bundleText: options.bundleText,
      targets: [target],
      say: () => {},
      database: `countersign${unique}`,
      password: 'only-for-tests',
    }),
  );
  const through = (url: string, port: number | undefined): string =>
    port === undefined ? url : Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href;
  const targets = new Map<string, TargetConfig>(
    [...readTargets(setup.targetsFile)].map(([name, t]): [string, TargetConfig] => {
      const via = (url: string | null): string | null => (url === null ? null : through(url, options.through?.target));
      return [name, 'stageUrl' in t ? { ...t, stageUrl: via(t.stageUrl), commitUrl: via(t.commitUrl) } : t];
    }),
  );
  for (const more of options.targets ?? []) targets.set(more.name, more);
  const logger = createLogger('test', 'fatal');
  const trustedOperators = [setup.keys.operator.key.publicKey];
  const open = (role: 'cs_review' | 'cs_judge' | 'cs_commit' | 'cs_gateway'): Resources =>
    openResources({
      databaseUrl: through(setup.databaseUrls[role], options.through?.countersign),
      applicationName: role,
      trustedOperators,
      extensions,
      logger,
    });
  const resources = { review: open('cs_review'), judge: open('cs_judge'), commit: open('cs_commit') };
  const gateway = open('cs_gateway');

  const attestorOf = (key: LoadedKey) => ({
    keyId: key.keyId,
    sign: (p: Parameters<typeof signPredicate<'attested'>>[1]) => signPredicate('attested', p, key),
  });
  const committer = setup.keys.committer.key;
  const judgeKey = setup.keys['attestor-judge'].key;
  const native = await NativeConnection.connect({ address });
  const connection = await Connection.connect({ address });
  const converter =
    options.payloadCodec === undefined ? {} : { dataConverter: { payloadCodecs: [options.payloadCodec] } };
  const temporal = new Client({ connection, namespace, ...converter });
  const breakers =
    options.breakers === undefined
      ? null
      : temporalBreakers({ temporal, taskQueue: TASK_QUEUES.review + suffix, ...options.breakers });
  const wrap = options.wrap ?? ((_worker, activities) => activities);
  const activities = {
    review: wrap(
      'review',
      reviewActivities({
        resources: resources.review,
        extensions,
        attestor: attestorOf(setup.keys['attestor-review'].key),
        webhooks: new Map(),
        breakers,
        logger,
        threads: null,
      }),
    ),
    judge: wrap(
      'judge',
      judgeActivities({
        prices: {},
        resources: resources.judge,
        extensions,
        attestor: attestorOf(judgeKey),
        key: judgeKey,
        transport: { baseUrl: options.judge?.baseUrl ?? 'http://127.0.0.1:9/v1', apiKey: 'test' },
      }),
    ),
    commit: wrap(
      'commit',
      commitActivities({
        resources: resources.commit,
        extensions,
        receipts: { keyId: committer.keyId, sign: (p) => signPredicate('receipt', p, committer) },
        targets,
        threads: null,
      }),
    ),
  };

  const operator = setup.keys.operator.key;
  const operatorDb = openDatabase({ url: setup.databaseUrls.cs_operator, applicationName: 'test' });
  const registry = createKeyRegistry({ db: operatorDb, trustedOperators, now: Date.now });

  let submitted = 0;
  const client = (serviceKey: Parameters<System['client']>[0]): Countersign =>
    new Countersign({
      temporal,
      tenant: 'default',
      taskQueue: TASK_QUEUES.review + suffix,
      store: gateway.store,
      serviceKey: serviceKey === null ? null : createSigner(serviceKey),
      ledger: clientLedger(gateway.ledger, () => new Date(), 'gateway'),
      trust: { committers: [committer.publicKey] },
    });
  const running = new Map<WorkerName, { worker: Worker; ended: Promise<void> }>();

  const system: System = {
    temporal,
    countersign: client(setup.keys.agent.key),
    client,
    setup,
    extensions,
    suffix,
    resources,
    activities,
    key: (name) => setup.keys[name].key,
    submit: (input) => system.countersign.submit({ target: 'shop', requestKey: `${suffix}-${++submitted}`, ...input }),
    async startWorker(name) {
      const worker = await Worker.create({
        ...(await workerOptions({
          taskQueue: TASK_QUEUES[name] + suffix,
          activities: activities[name],
          workflows: false,
        })),
        ...(name === 'review'
          ? {
              workflowBundle: { codePath: workflowBundlePath() },
              workflowTaskPollerBehavior: { type: 'autoscaling' as const },
            }
          : {}),
        ...converter,
        connection: native,
        namespace,
      });
      running.set(name, { worker, ended: worker.run() });
    },
    async stopWorker(name) {
      const started = running.get(name);
      if (started === undefined) return;
      running.delete(name);
      started.worker.shutdown();
      await started.ended;
    },
    shop: (text, values = []) =>
      withPg(setup.targetAdminUrls['shop'] ?? '', async (pg) => (await pg.query(text, [...values])).rows),
    isTold: async (changeId) => (await gateway.ledger.readKinds(changeId, ['disclosed', 'closed'])).length > 0,
    async waiting(changeId) {
      for (const until = Date.now() + 60_000; Date.now() < until; await pause(50)) {
        const status = (await system.isTold(changeId)) ? await statusWhenHeard(system.countersign, changeId) : null;
        if (status === null) continue;
        if (status.fingerprint !== null && status.state === 'INTERVENTION_REQUIRED') return status;
        if (!['RUNNING', 'INTERVENTION_REQUIRED'].includes(status.state))
          throw new Error(`The review is ${status.state}: ${status.reason ?? ''}`);
      }
      throw new Error('No violation was disclosed in 60 s');
    },
    sign(status, person, decision, violations) {
      const violationIds = violations ?? status.violations.filter((v) => v.need === 'human').map((v) => v.violationId);
      const issuedAt = new Date();
      const validity = { issuedAt, expiresAt: new Date(issuedAt.getTime() + 3_600_000) };
      const key = typeof person === 'string' ? setup.keys[person].key : person;
      return [
        ...signAnswers(
          status,
          { violationIds, decision, reason: `${decision} by ${key.subject.id}` },
          createSigner(key),
          validity,
        ),
      ];
    },
    async answer(changeId, person, decision) {
      return await system.countersign.answer(changeId, system.sign(await system.waiting(changeId), person, decision));
    },
    async ended(changeId) {
      const result = await system.countersign.result(changeId, { timeoutMs: 60_000 });
      if (result.state === 'PENDING') throw new Error(`Not ended in 60 s: ${JSON.stringify(result.status)}`);
      if (result.state === 'ABORTED') throw new Error(`Ended without an outcome: ${result.why}`);
      return result;
    },
    ledger: (changeId) => gateway.ledger.read(changeId),
    async addKey(label) {
      const key = { ...newKeyPair(), onBehalfOf: null, demo: true, ...label };
      await registry.add(signKeyEntry({ ...key, addedAt: new Date().toISOString() }, operator));
      return key;
    },
    async revokeKey(keyId) {
      const revocation = { keyId, reason: 'left', revokedAt: new Date().toISOString() };
      await registry.revoke(signKeyRevocation(revocation, operator));
    },
    async close() {
      for (const name of [...running.keys()]) await system.stopWorker(name);
      await connection.close();
      await native.close();
      await Promise.all([...Object.values(resources), gateway, { db: operatorDb }].map(({ db }) => db.close()));
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
  await Promise.all((options.workers ?? ['review', 'judge', 'commit']).map((name) => system.startWorker(name)));
  return system;
}

/** Warnings and errors only; a failed activity is what many tests are about. Once per test file: the runtime ends with its last connection. */
function quietRuntime(): void {
  if ((Runtime as unknown as { readonly _instance?: unknown })._instance !== undefined) return;
  const level = process.env['COUNTERSIGN_TEST_LOG'] === undefined ? 'ERROR' : 'WARN';
  Runtime.install({
    logger: new DefaultLogger(level),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: level, other: 'ERROR' }), forward: {} } },
  });
}

/** Bundled once per run, by the global set-up. */
export function workflowBundlePath(): string {
  const path = process.env['COUNTERSIGN_TEST_BUNDLE'];
  if (path === undefined)
    throw new Error('COUNTERSIGN_TEST_BUNDLE: is not set; system tests run in the jest project "system"');
  return path;
}

/** One at a time across test files and processes. */
async function alone<T>(work: () => Promise<T>): Promise<T> {
  return await withPg(process.env['COUNTERSIGN_TEST_POSTGRES'] ?? '', async (pg) => {
    await pg.query(`select pg_advisory_lock(hashtext('countersign system test set-up'))`);
    return await work();
  });
}

/** Null while nobody answers: for ten seconds the server hands questions to the queue of a worker that was killed, and a busy machine takes its time. */
export async function statusWhenHeard(countersign: Countersign, changeId: string): Promise<ReviewStatus | null> {
  try {
    return await countersign.status(changeId);
  } catch (error) {
    if (isUnheard(error)) return null;
    throw error;
  }
}

/** Calls again while nobody answers, two minutes at most: on a busy machine that is no failure. For what takes effect once. */
export async function heard<T>(call: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + 120_000; ; await pause(250)) {
    try {
      return await call();
    } catch (error) {
      if (!isUnheard(error) || Date.now() > until) throw error;
    }
  }
}

function isUnheard(error: unknown): boolean {
  return error instanceof CountersignError && ['worker_unavailable', 'temporal_unavailable'].includes(error.code);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function withPg<T>(url: string, work: (pg: PgClient) => Promise<T>): Promise<T> {
  const pg = new PgClient({ connectionString: url });
  await pg.connect();
  try {
    return await work(pg);
  } finally {
    await pg.end();
  }
}
