import { setTimeout as sleep } from 'node:timers/promises';
import { createSigner, type Signer } from '../../client/signer';
import type { Decision } from '../../policy/contracts/answer';
import { GENESIS } from '../../policy/contracts/ledger';
import type { ReviewStatus } from '../../policy/contracts/status';
import { humanViolations, signedAnswers } from '../../dev/signed-answers';
import type { Case } from './cases';
import type { Cluster } from './cluster';
import { changeOf, resourceOf, START_DOCUMENT, TABLES } from './scenarios';
import type { SubmitInput } from '../../client/submission';

/** A review or workflow that is still open after this long is a violation. Far longer than even an overloaded machine needs. */
const MAX_OPEN_MS = 900_000;

/** Plays agent and approvers of one review, regardless of crashes. Resolves when its workflow has ended or has been open for MAX_OPEN_MS. */
export class ReviewDriver {
  readonly #until = Date.now() + MAX_OPEN_MS;
  readonly changeId: string;

  private constructor(
    readonly cluster: Cluster,
    readonly of: Case,
    readonly row: number,
    readonly change: SubmitInput,
  ) {
    this.changeId = cluster.countersign.prepare(change).changeId;
  }

  static async run(cluster: Cluster, of: Case, row: number, run: string): Promise<ReviewDriver> {
    const tip = of.scenario.startsWith('git') ? cluster.repository.tip() : '';
    const targets = { apiUrl: cluster.api.url, tip };
    const drive = new ReviewDriver(cluster, of, row, changeOf(of.scenario, row, run, targets));
    cluster.faultController.arm(drive.changeId, of.faults);
    cluster.openReviews.add(drive.changeId);
    await drive.#play().finally(() => cluster.openReviews.delete(drive.changeId));
    return drive;
  }

  async #play(): Promise<void> {
    const { countersign, temporal } = this.cluster;
    await this.#retry(() => countersign.submit(this.change, { timeoutMs: 30_000 }));
    if ((await this.#waitFor(['disclosed', 'closed'])) === 'disclosed') await this.#answer();
    await this.#waitFor(['closed']);
    await this.#retry(async () => {
      const { state } = await countersign.result(this.changeId, { timeoutMs: 20_000 });
      if (state === 'PENDING') throw new Error('The client has no result yet');
    });
    // The result comes from the ledger. The workflow completes after it, and the checker requires that it did.
    await this.#retry(async () => {
      const workflow = temporal.workflow.getHandle(this.changeId);
      const { status } = await temporal.withDeadline(Date.now() + 10_000, () => workflow.describe());
      if (status.name === 'RUNNING') throw new Error('The workflow is still open');
    });
  }

  async #answer(): Promise<void> {
    const { countersign, setup, target } = this.cluster;
    const { scenario } = this.of;
    const alice = createSigner(setup.keys.alice.key);
    // The disclosure is in the ledger before it is in the workflow state.
    const status = await this.#retry(async () => {
      const current = await countersign.status(this.changeId);
      if (current.state === 'RUNNING') throw new Error('Nothing is disclosed yet');
      return current;
    });
    if (status === null || status.fingerprint === null) return;
    switch (scenario) {
      case 'withdraw':
        await this.#retry(() => countersign.withdraw(this.changeId, { reason: 'withdrawn' }));
        return;
      case 'reject':
        return this.#send(status, alice, 'reject');
      case 'stale':
        await this.#retry(() =>
          target.query(`update ${TABLES[scenario]} set version = version + 1 where id = $1 and version = 1`, [
            this.row,
          ]),
        );
        return this.#send(status, alice, 'confirm');
      case 'git_stale':
        this.cluster.repository.push({});
        return this.#send(status, alice, 'confirm');
      case 'http_stale':
        this.#overtakeResource();
        return this.#send(status, alice, 'confirm');
      case 'refused_answer':
        await this.#send({ ...status, fingerprint: GENESIS }, alice, 'confirm');
        return this.#send(status, alice, 'confirm');
      case 'revoked':
        return this.#withRevokedKey(status, alice);
      case 'auto':
      case 'confirm':
      case 'cas':
      case 'judge_down':
      case 'forbidden':
      case 'git':
      case 'http':
        return this.#send(status, alice, 'confirm');
      default:
        return scenario satisfies never;
    }
  }

  /** Simulates a concurrent write by another client. */
  #overtakeResource(): void {
    const { documents, url } = this.cluster.api;
    const { pathname } = new URL(resourceOf(url, this.row));
    documents.set(pathname, { ...START_DOCUMENT, by: 'another client' });
  }

  /** Bob's answer is accepted, then his key is revoked, then the last answer is sent. */
  async #withRevokedKey(status: ReviewStatus, alice: Signer): Promise<void> {
    const { client } = this.cluster;
    const key = await this.#retry(() => client.addKey({ kind: 'approver', subject: { type: 'person', id: 'bob' } }));
    if (key === null) return;
    const [first = '', ...others] = humanViolations(status);
    await this.#send(status, createSigner(key), 'confirm', [first]);
    await this.#retry(() => client.revokeKey(key.keyId));
    await this.#send(status, alice, 'confirm', others);
  }

  /** Sends the answers until each has a result. Resending is safe: a duplicate counts once. */
  async #send(
    status: ReviewStatus,
    signer: Signer,
    decision: Decision,
    violationIds = humanViolations(status),
  ): Promise<void> {
    const answers = signedAnswers(status, signer, decision, { violationIds });
    if (answers.length === 0) return;
    await this.#retry(async () => {
      const results = await this.cluster.countersign.answer(this.changeId, answers, { timeoutMs: 20_000 });
      // Workers cache the key registry for a short time.
      if (Object.values(results).some(({ code }) => code === 'unknown_key'))
        throw new Error('The new key is not visible to the worker yet');
    });
  }

  async #waitFor(kinds: readonly ('disclosed' | 'closed')[]): Promise<string | null> {
    const row = await this.#retry(async () => {
      const rows = await this.cluster.client.ledger.readKinds(this.changeId, [...kinds]);
      const last = rows.at(-1);
      if (last === undefined) throw new Error(`No ledger row of kind ${kinds.join(' or ')} yet`);
      return last;
    }, 250);
    return row?.row.kind ?? null;
  }

  /** Retries until `work` succeeds; null after MAX_OPEN_MS. Failures are expected, because servers and workers are killed. */
  async #retry<T>(work: () => Promise<T>, pauseMs = 500): Promise<T | null> {
    for (let wait = pauseMs; Date.now() < this.#until; wait = Math.min(2_000, wait * 1.2)) {
      try {
        return await work();
      } catch (error) {
        this.lastError = error instanceof Error ? error.message : String(error);
      }
      await sleep(wait);
    }
    return null;
  }

  /** Message of the last failed call, reported if the review does not end. */
  lastError = '';
}
