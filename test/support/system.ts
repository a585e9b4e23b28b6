import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NativeConnection } from '@temporalio/worker';
import type { Client } from '@temporalio/client';
import type { Countersign } from '../../client/countersign';
import { isTransient } from '../../client/errors';
import type { ReviewResult } from '../../client/result';
import type { Submitted } from '../../client/review-calls';
import { createSigner } from '../../client/signer';
import type { AnswerResults, Decision } from '../../policy/contracts/answer';
import type { Envelope } from '../../policy/contracts/diff';
import type { BreakerParameters } from '../../policy/decide/breaker';
import type { ReviewStatus } from '../../policy/contracts/status';
import type { LoadedKey, KeyLabel } from '../../signing/key-file';
import { readTargets } from '../../workers/config';
import { openDevClient, type DevClient } from '../../dev/client';
import { openRoles, roleSetup } from '../../dev/local-roles';
import { retried } from '../../workers/retried';
import type { WorkerRole } from '../../policy/contracts/queues';
import { localWorkers, quietRuntime } from './local-workers';
import { query } from '../../dev/query';
import { signedAnswers } from '../../dev/signed-answers';
import { reviewDriver, type DrivenChange } from '../../dev/review-driver';
import { setUpDev, type DevSetup, type DevTarget } from '../../dev/setup';
import type { DemoKeyName } from '../../dev/demo-keys';
import type { TargetConfig } from '../../activities/committer/targets';
import { useExistingPostgres } from '../../dev/embedded/postgres';
import type { KeyRing } from '../../storage/store/preview-cipher';
import type { StoredRow } from '../../policy/evidence/chain';
import type { SigningKey } from '../../signing/keys';
import { extensionsOf, type Extension, type Extensions } from '../../workers/extensions';
import { live } from './live';
import { oneAtATime } from './one-at-a-time';
import type { Resources } from '../../workers/resources';

// Tests on real servers take longer than Jest's 5 s.
jest.setTimeout(180_000);

/** Of one wait for a review. A busy machine needs far less. */
const WITHIN_MS = 180_000;

export type WorkerName = WorkerRole;

export interface SystemOptions {
  readonly name: string;
  readonly bundleText: string;
  readonly extension?: Extension;
  readonly judge?: { readonly baseUrl: string };
  /** Targets in addition to the database `shop`. */
  readonly targets?: readonly TargetConfig[];
  /** Fills the target database `shop`: SQL, or a function of an administrator's URL. */
  readonly shopSql?: string | ((adminUrl: string) => Promise<void>);
  /** Workers to start. Default: all. */
  readonly workers?: readonly WorkerName[];
  /** Wraps the activities of a worker before it starts: failpoints, spies. */
  readonly wrap?: (worker: WorkerName, activities: object) => object;
  /** Ports of proxies in front of PostgreSQL: our own database's, the target's. */
  readonly through?: { readonly countersign?: number; readonly target?: number };
  /** Parameters of the circuit breakers. Default: no circuit breakers. */
  readonly breakers?: { readonly parameters: BreakerParameters };
  /** A Temporal server other than the one that all system tests share. */
  readonly temporalAddress?: string;
  /** Used by the client and by all workers. */
  readonly payloadKeys?: KeyRing;
  /** Workflows that the review worker keeps in memory. */
  readonly maxCachedWorkflows?: number;
}

export type TestKey = SigningKey & KeyLabel;

/** All workers and clients in this process, on real servers, with databases and task queues that no other test file uses. */
export interface System {
  readonly temporal: Client;
  readonly countersign: Countersign;
  readonly setup: DevSetup;
  readonly extensions: Extensions;
  readonly suffix: string;
  readonly resources: Readonly<Record<WorkerName, Resources>>;
  readonly activities: Readonly<Record<WorkerName, object>>;
  key(name: DemoKeyName): LoadedKey;
  /** Submits under a new request key: the server outlives a test run, and the same change submitted twice is the same review. */
  submit(input: DrivenChange): Promise<Submitted>;
  startWorker(name: WorkerName): Promise<void>;
  /** Stops gracefully; resolves when the worker has stopped. */
  stopWorker(name: WorkerName): Promise<void>;
  /** Workflows in the memory of the review worker. */
  cachedWorkflows(): number;
  /** A superuser's query on the target. */
  shop<R extends Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<R[]>;
  isDisclosed: DevClient['isDisclosed'];
  /** Waits until the violations are disclosed. */
  waiting(changeId: string): Promise<ReviewStatus>;
  sign(
    status: ReviewStatus,
    person: DemoKeyName | TestKey,
    decision: Decision,
    violations?: readonly string[],
  ): Envelope[];
  /** Signs and sends for every violation, by update. */
  answer(changeId: string, person: DemoKeyName, decision: Decision): Promise<AnswerResults>;
  /** Waits for the end. */
  ended(changeId: string): Promise<Exclude<ReviewResult, { state: 'PENDING' | 'ABORTED' }>>;
  ledger(changeId: string): Promise<readonly StoredRow[]>;
  /** A client that submits with another service key, or without one. */
  client(serviceKey: (SigningKey & { readonly onBehalfOf?: string | null }) | null): Countersign;
  addKey: DevClient['addKey'];
  revokeKey: DevClient['revokeKey'];
  close(): Promise<void>;
}

/** A system for the tests of a file or a block. A function gives options that are known only when the tests begin. */
export function useSystem(options: SystemOptions | (() => SystemOptions | Promise<SystemOptions>)): System {
  let started: System | undefined;
  beforeAll(async () => void (started = await startSystem(typeof options === 'function' ? await options() : options)));
  afterAll(() => started?.close());
  return live(() => started);
}

export async function startSystem(options: SystemOptions): Promise<System> {
  // Many tests make activities fail.
  quietRuntime(process.env['COUNTERSIGN_TEST_LOG'] === undefined ? 'ERROR' : 'WARN');
  const address = options.temporalAddress ?? process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '127.0.0.1:7233';
  const namespace = process.env['COUNTERSIGN_TEST_NAMESPACE'] ?? 'default';
  const suffix = `-${options.name}-${process.pid}-${Date.now().toString(36)}`;
  const stateDir = mkdtempSync(join(tmpdir(), 'countersign-system-'));
  const postgres = await useExistingPostgres(process.env['COUNTERSIGN_TEST_POSTGRES'] ?? '', () => {});
  // Set by the global set-up, if targets have another server.
  const targetUrl = process.env['COUNTERSIGN_TEST_TARGET_POSTGRES'];
  const targetServer = targetUrl === undefined ? postgres : await useExistingPostgres(targetUrl, () => {});
  const unique = suffix.replaceAll('-', '_');
  const target: DevTarget = {
    name: 'shop',
    database: `shop${unique}`,
    seed: async (url) =>
      typeof options.shopSql === 'function'
        ? await options.shopSql(url)
        : void (await query(url, options.shopSql ?? 'select 1')),
  };
  const extensions = extensionsOf(options.extension === undefined ? [] : [options.extension]);
  // Roles belong to the whole server: two files that set up at the same time would fail on each other's roles.
  const setup = await oneAtATime('set-up', () =>
    setUpDev({
      runtime: { postgres, stateDir },
      targetServer,
      extensions,
      bundleText: options.bundleText,
      targets: [target],
      otherTargets: options.targets ?? [],
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
  const databaseUrls = mapValues(setup.databaseUrls, (url) => through(url, options.through?.countersign));
  const native = await NativeConnection.connect({ address });
  const client = await openDevClient({
    setup,
    temporalAddress: address,
    namespace,
    applicationName: 'test',
    suffix,
    payloadKeys: options.payloadKeys,
    databaseUrl: databaseUrls.cs_gateway,
  });
  const { temporal } = client;
  const roles = openRoles(
    { ...roleSetup(setup), databaseUrls },
    {
      applicationName: 'test',
      extensions,
      judgeUrl: options.judge?.baseUrl,
      ...(options.breakers === undefined ? {} : { breakers: options.breakers }),
      payloadKeys: options.payloadKeys,
      targets,
    },
  );
  const { resources } = roles;
  const wrap = options.wrap ?? ((_worker, activities) => activities);
  const activities = {
    review: wrap('review', roles.activities.review),
    judge: wrap('judge', roles.activities.judge),
    commit: wrap('commit', roles.activities.commit),
  };
  const driver = reviewDriver({ setup, client, prefix: `${suffix}-`, withinMs: WITHIN_MS });
  const workers = localWorkers({
    connection: native,
    namespace,
    suffix,
    activities,
    workflowBundlePath: workflowBundlePath(),
    payloadKeys: options.payloadKeys,
    maxCachedWorkflows: options.maxCachedWorkflows,
  });

  const system: System = {
    temporal,
    countersign: client.countersign,
    client: client.as,
    setup,
    extensions,
    suffix,
    resources,
    activities,
    key: (name) => setup.keys[name].key,
    submit: driver.submit,
    startWorker: workers.start,
    stopWorker: workers.stop,
    cachedWorkflows: workers.cachedWorkflows,
    shop: (text, values) => driver.target(text, values),
    isDisclosed: client.isDisclosed,
    waiting: driver.waiting,
    sign(status, person, decision, violations) {
      const key = typeof person === 'string' ? setup.keys[person].key : person;
      const reason = `${decision} by ${key.subject.id}`;
      return signedAnswers(status, createSigner(key), decision, {
        reason,
        ...(violations && { violationIds: violations }),
      });
    },
    async answer(changeId, person, decision) {
      return await system.countersign.answer(changeId, system.sign(await system.waiting(changeId), person, decision));
    },
    async ended(changeId) {
      const result = await driver.ended(changeId);
      if (result.state === 'ABORTED') throw new Error(`Ended without an outcome: ${result.why}`);
      return result;
    },
    ledger: (changeId) => client.ledger.read(changeId),
    addKey: client.addKey,
    revokeKey: client.revokeKey,
    async close() {
      await workers.stopAll();
      await client.close();
      await native.close();
      await roles.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
  await Promise.all((options.workers ?? ['review', 'judge', 'commit']).map(workers.start));
  return system;
}

/** Bundled once per run, by the global set-up. */
export function workflowBundlePath(): string {
  const path = process.env['COUNTERSIGN_TEST_BUNDLE'];
  if (path === undefined)
    throw new Error('COUNTERSIGN_TEST_BUNDLE: is not set; system tests run in the jest project "system"');
  return path;
}

/** Retries while no worker answers, for two minutes: a busy machine takes long. For idempotent calls only. */
export const retryUnavailable = <T>(call: () => Promise<T>): Promise<T> => retried(call, isTransient);

function mapValues<K extends string>(object: Readonly<Record<K, string>>, change: (value: string) => string) {
  return Object.fromEntries(Object.entries<string>(object).map(([key, value]) => [key, change(value)])) as Record<
    K,
    string
  >;
}
