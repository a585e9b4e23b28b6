import { setTimeout as pause } from 'node:timers/promises';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@temporalio/client';
import type { Countersign } from '../../client/countersign';
import { GatewayClient } from '../../client/gateway-client';
import type { ReviewResult } from '../../client/result';
import { createSigner } from '../../client/signer';
import type { AnswerPredicate } from '../../policy/contracts/answer';
import { Envelope, Submission } from '../../policy/contracts/diff';
import { ReceiptPredicate } from '../../policy/contracts/outcome';
import { Plan } from '../../policy/contracts/plan';
import type { ReviewStatus } from '../../policy/contracts/status';
import { signPredicate } from '../../signing/envelope';
import type { KeyLabel } from '../../signing/key-file';
import { newNonce } from '../../signing/nonce';
import type { SigningKey } from '../../signing/keys';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import type { DevClient } from '../../dev/client';
import type { GitRepository } from '../../dev/fixtures/git-repository';
import type { JsonApi } from '../../dev/fixtures/json-api';
import type { Dev } from '../../dev/start';
import { NamespaceWriter } from './namespace-writer';
import { Operator } from './operator';
import { EXTENSIONS, startServers, type AttackServers } from './servers';
import { targetsDigest } from './shop';
import { query } from '../../dev/query';
import { queryWorkflow } from '../../dev/query-workflow';
import { reviewDriver, type DrivenChange, type ReviewDriver } from '../../dev/review-driver';

export const WAIT_MS = 60_000;

export type Change = DrivenChange;

/** A row of the ledger, read directly from the database without production code. */
export interface Row {
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The shop with its people and reviews on real servers and our real processes, and the attacker. */
export class Testbed {
  readonly #driver: ReviewDriver;
  #pace: 'in seconds' | 'as shipped' = 'as shipped';
  #before = '';
  #exports = 0;
  #second: Promise<Testbed> | undefined;
  readonly dev: Dev;
  readonly client: DevClient;
  readonly bundleText: string;
  /** The target `repo`. */
  readonly repository: GitRepository;
  /** The target `api`. */
  readonly api: JsonApi;
  readonly temporal: Client;
  readonly countersign: Countersign;
  readonly attacker: NamespaceWriter;
  readonly operator: Operator;
  readonly trust: { readonly operators: readonly string[]; readonly committers: readonly string[] };

  private constructor(
    servers: AttackServers,
    readonly close: () => Promise<void>,
  ) {
    const { dev, client } = servers;
    this.dev = dev;
    this.client = client;
    this.bundleText = servers.bundleText;
    this.repository = servers.repository;
    this.api = servers.api;
    this.temporal = client.temporal;
    this.countersign = client.countersign;
    this.attacker = new NamespaceWriter(client.temporal, client.connection, dev.runtime.namespace);
    this.#driver = reviewDriver({ setup: dev.setup, client, prefix: '', withinMs: WAIT_MS });
    this.operator = new Operator(dev, client, EXTENSIONS);
    this.trust = servers.trust;
  }

  static async start(say: (line: string) => void, { breakers = false } = {}): Promise<Testbed> {
    const servers = await startServers(say, breakers);
    const testbed: Testbed = new Testbed(servers, async () => {
      await (await testbed.#second)?.close();
      await servers.close();
    });
    return testbed;
  }

  /** A second set-up with circuit breakers. In this one they are off, because the changes of the attacks would open them. */
  withBreakers(): Promise<Testbed> {
    return (this.#second ??= Testbed.start(() => {}, { breakers: true }));
  }

  /** Restarts the committer, unless it runs at this pace: within seconds or minutes it finds a review whose workflow is gone. */
  async reconcile(pace: 'in seconds' | 'as shipped'): Promise<void> {
    if (this.#pace === pace) return;
    this.#pace = pace;
    await this.dev.processes.commit.stop();
    const often = { COUNTERSIGN_RECONCILE_GRACE_SECONDS: '4', COUNTERSIGN_RECONCILE_EVERY_SECONDS: '2' };
    await this.dev.restart('commit', pace === 'in seconds' ? often : {});
  }

  get queues(): typeof TASK_QUEUES {
    return TASK_QUEUES;
  }

  /** Submits as the agent under a new request key; resolves with the change id. */
  async submit(change: Change): Promise<string> {
    return (await this.#driver.submit(change)).changeId;
  }

  /** Submits without a signature; resolves with the change id. */
  async submitUnsigned(change: Change): Promise<string> {
    const unsigned = this.client.as(null);
    return (await unsigned.submit(this.#driver.input(change))).changeId;
  }

  /** A submission that is neither stored nor sent. */
  unsent(change: Change) {
    return this.countersign.prepare(this.#driver.input(change));
  }

  /** Stores the bytes and returns the submission without sending it. */
  async prepared(change: Change) {
    const prepared = this.countersign.prepare(this.#driver.input(change));
    await this.client.store.put('default', prepared.bytes);
    return prepared;
  }

  waiting(changeId: string): Promise<ReviewStatus> {
    return this.#driver.waiting(changeId);
  }

  /** Waits until a workflow that was started again or reset waits for answers: its review may be closed in the ledger. */
  async workflowWaits(changeId: string): Promise<ReviewStatus> {
    const handle = this.temporal.workflow.getHandle(changeId);
    for (const until = Date.now() + WAIT_MS; Date.now() < until; await pause(100)) {
      const status = await queryWorkflow<ReviewStatus>(handle, 'status');
      if (status.state === 'INTERVENTION_REQUIRED' && status.fingerprint !== null) return status;
    }
    throw new Error(`The workflow ${changeId} does not wait for answers`);
  }

  /** Submits a change and waits until its violations are disclosed. */
  async submitAndWait(change: Change): Promise<ReviewStatus> {
    return this.waiting(await this.submit(change));
  }

  /** Submits, and waits until the review has ended because Alice rejected every violation. Returns the status before that. */
  async submitRejected(change: Change): Promise<ReviewStatus> {
    const status = await this.submitAndWait(change);
    await this.update(status.changeId, this.sign(status, this.keyOf('alice'), 'reject'));
    await this.ended(status.changeId);
    return status;
  }

  ended(changeId: string): Promise<Exclude<ReviewResult, { state: 'PENDING' }>> {
    return this.#driver.ended(changeId);
  }

  /** The submission and the plan hash of a review, from its ledger. */
  async submissionOf(changeId: string): Promise<{ readonly submission: Submission; readonly planHash: string }> {
    const rows = await this.rows(changeId);
    const body = (kind: string): Row['body'] => rows.find((row) => row.kind === kind)?.body ?? {};
    return {
      submission: Submission.parse(body('submitted')['submission']),
      planHash: String(body('planned')['planHash']),
    };
  }

  /** The plan that a review pinned. */
  async planOf(changeId: string): Promise<Plan> {
    const { planHash } = await this.submissionOf(changeId);
    const [found] = await this.ledger<{ plan: string }>('select plan from compiled_plans where plan_hash = $1', [
      planHash,
    ]);
    if (found === undefined) throw new Error(`Expected the plan ${planHash} in compiled_plans`);
    return Plan.parse(JSON.parse(found.plan));
  }

  /** Starts the review workflow directly, even if one with this id is closed. */
  async startReview(changeId: string, submission: Submission): Promise<void> {
    await this.temporal.workflow.start('review', {
      workflowId: changeId,
      taskQueue: this.queues.review,
      args: [submission],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
  }

  /** Schedules `commit` from the attacker's own workflow. */
  async scheduleCommit(of: {
    readonly changeId: string;
    readonly planHash: string | null;
    readonly stagingSha: string | null;
    readonly fingerprint: string | null;
  }): Promise<void> {
    const { changeId, planHash, stagingSha, fingerprint } = of;
    await this.attacker.schedule('commit', this.queues.commit, { changeId, planHash, stagingSha, fingerprint });
  }

  /** Schedules `admitAnswer` directly, with group members of the attacker's choice. The workflow does not receive the answer. */
  async scheduleAdmission(status: ReviewStatus, answers: readonly unknown[]): Promise<void> {
    const input = this.admission(status, answers);
    const admitted = await this.attacker.schedule('admitAnswer', this.queues.review, input);
    if (!admitted.ok) throw new Error(`admitAnswer: ${admitted.message}`);
  }

  /** Input of `admitAnswer` with group members of the attacker's choice. */
  admission(status: ReviewStatus, answers: readonly unknown[]) {
    const { changeId, tenant, target, fingerprint } = status;
    return {
      changeId,
      context: { tenant, target, environment: 'development' },
      answersMode: 'signed',
      development: true,
      fingerprint,
      closed: false,
      requester: null,
      violations: status.violations.map(({ violationId, need, group }) => ({
        violationId,
        need,
        group,
        members: ['alice', 'bob', 'dana', 'mallory'],
        fourEyes: false,
      })),
      admitted: [],
      message: { answers },
      via: 'update',
    };
  }

  /** Waits until a legitimate change is committed and returns its receipt. */
  async receiptOf(changeId: string): Promise<{ readonly envelope: Envelope; readonly predicate: ReceiptPredicate }> {
    const result = await this.ended(changeId);
    const row = (await this.rows(changeId)).find(({ kind }) => kind === 'receipt');
    if (result.state !== 'COMMITTED' || row === undefined) throw new Error(`${changeId} is ${result.state}`);
    await this.baseline();
    return { envelope: Envelope.parse(row.body['envelope']), predicate: ReceiptPredicate.parse(row.body['predicate']) };
  }

  keyOf(name: 'alice' | 'bob' | 'agent'): SigningKey & KeyLabel {
    return this.dev.setup.keys[name].key;
  }

  /** One signed answer for each violation that needs a person, as the client makes it. `more` overrides members. */
  sign(
    status: ReviewStatus,
    key: SigningKey,
    decision: AnswerPredicate['decision'] = 'confirm',
    more: Partial<AnswerPredicate> = {},
  ): Envelope[] {
    const now = Date.now();
    return status.violations
      .filter((v) => v.need === 'human')
      .map(({ violationId }) =>
        signPredicate(
          'answer',
          {
            changeId: status.changeId,
            fingerprint: status.fingerprint ?? '',
            violationId,
            decision,
            retracts: null,
            reason: 'seen',
            keyId: key.keyId,
            context: { tenant: status.tenant, target: status.target, environment: 'development' },
            coverage: null,
            nonce: newNonce(),
            issuedAt: new Date(now).toISOString(),
            expiresAt: new Date(now + 600_000).toISOString(),
            ...more,
          },
          key,
        ),
      );
  }

  /** Sends answers by update without our client. Returns the result codes, one for each violation. */
  async update(changeId: string, answers: readonly unknown[]): Promise<string[]> {
    const results = await this.temporal.workflow
      .getHandle(changeId)
      .executeUpdate<Record<string, { code: string }>, [unknown]>('answer', { args: [{ answers }] });
    return Object.values(results).map(({ code }) => code);
  }

  /** Sends any message by update without our client. */
  async sendUpdate(changeId: string, name: string, message: unknown): Promise<{ code: string; message: string }> {
    return this.temporal.workflow.getHandle(changeId).executeUpdate(name, { args: [message] });
  }

  async signal(changeId: string, answers: readonly unknown[]): Promise<void> {
    await this.temporal.workflow.getHandle(changeId).signal('answer', { answers });
  }

  /** Waits for a ledger row, because a signal is processed asynchronously; null if it is not written in time. */
  async waitForRow(changeId: string, is: (row: Row) => boolean, withinMs = WAIT_MS): Promise<Row | null> {
    for (const until = Date.now() + withinMs; Date.now() < until; await pause(50)) {
      const found = (await this.rows(changeId)).find(is);
      if (found !== undefined) return found;
    }
    return null;
  }

  async rows(changeId: string): Promise<Row[]> {
    const rows = await this.ledger<{ kind: string; body: string }>(
      'select kind, body from ledger where change_id = $1 order by n',
      [changeId],
    );
    return rows.map(({ kind, body }) => ({ kind, body: JSON.parse(body) as Row['body'] }));
  }

  /** Queries a target as superuser. */
  target(text: string, values: readonly unknown[] = [], name = 'shop'): Promise<Record<string, unknown>[]> {
    return this.#driver.target(text, values, name);
  }

  #digest(): Promise<string> {
    return targetsDigest((text, name) => this.target(text, [], name), this.repository, this.api);
  }

  /** The number of the last row in the ledger. */
  async lastRow(): Promise<number> {
    const [last] = await this.ledger<{ seq: string | null }>('select max(seq) as seq from ledger');
    return Number(last?.seq ?? 0);
  }

  /** The ends and effects that the ledger recorded after a row, each as one line: where a change of the targets can come from. */
  async effectsSince(row: number): Promise<string[]> {
    const ends = await this.ledger<{ line: string }>(
      `select concat_ws(' ', l.kind, l.at, l.change_id, r.summary, r.state, r.reason) as line from ledger l join reviews r using (change_id)
       where l.seq > $1 and l.kind in ('intent', 'decided', 'effect', 'closed') order by l.seq`,
      [row],
    );
    return ends.map(({ line }) => line);
  }

  /** Queries our own database as superuser. */
  ledger<R extends Record<string, unknown>>(sql: string, values: readonly unknown[] = []): Promise<readonly R[]> {
    return query<R>(this.dev.runtime.postgres.superuserUrl('countersign'), sql, values);
  }

  /** Takes the current state of the targets as the base of `targetChanged`. */
  async baseline(): Promise<void> {
    this.#before = await this.#digest();
  }

  async targetChanged(): Promise<boolean> {
    return (await this.#digest()) !== this.#before;
  }

  /** The key file of a person, as the CLI takes it. */
  keyFileOf(name: 'alice' | 'bob'): string {
    return this.dev.setup.keys[name].path;
  }

  /** A client of the gateway, or of a server at another address, with a key. */
  gateway(key: SigningKey, { baseUrl = this.dev.gatewayUrl, tenant = 'default' } = {}): GatewayClient {
    return new GatewayClient({ baseUrl, tenant, serviceKey: createSigner(key), trust: this.trust });
  }

  /** The evidence of a change, exported by our CLI into a file of its own. */
  async exported(changeId: string): Promise<string> {
    const file = join(this.dev.runtime.stateDir, `${changeId}.${++this.#exports}.evidence.json`);
    const { code, err } = await this.cli('export', changeId, '--out', file);
    if (code !== 0) throw new Error(`export: exit code ${code} ${err.slice(0, 300)}`);
    return file;
  }

  /** Verifies evidence with our CLI and the keys that people would trust. */
  async verify(file: string): Promise<{ readonly code: number; readonly out: string; readonly verdict: string }> {
    const { code, out } = await this.cli('verify', file, '--trust', this.dev.setup.trustFile, '--json');
    return { code, out, verdict: (JSON.parse(out) as { verdict: string }).verdict };
  }

  /** Runs our CLI in a process; returns exit code, standard output and standard error. */
  async cli(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const script = join(__dirname, '..', '..', 'cli', 'main.js');
    const env = { ...process.env, COUNTERSIGN_STATE_DIR: this.dev.runtime.stateDir };
    try {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, ...args], {
        env,
        timeout: 120_000,
      });
      return { code: 0, out: stdout, err: stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
      if (typeof code !== 'number') throw error;
      return { code, out: stdout ?? '', err: stderr ?? '' };
    }
  }
}
