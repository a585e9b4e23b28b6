import { setTimeout as sleep } from 'node:timers/promises';
import { signAnswers } from '../../client/sign-answers';
import { createSigner, type Signer } from '../../client/signer';
import type { Decision } from '../../policy/contracts/answer';
import { GENESIS } from '../../policy/contracts/ledger';
import type { ReviewStatus } from '../../policy/contracts/status';
import { newKeyPair } from '../../signing/keys';
import { signKeyEntry, signKeyRevocation } from '../../signing/registry-entry';
import type { Case } from './cases';
import type { Cluster } from './cluster';
import { mend } from './mend';
import { changeOf, TABLES } from './scenarios';
import type { SubmitInput } from '../../client/submission';

/** A review that has not ended after this long is a violation of its own: far longer than a starved machine needs. */
const PATIENCE_MS = 900_000;

/** Open for so long, a review may be one that no longer replays: then looked at this often. */
const MEND_AFTER_MS = 15_000;

/** Plays agent and approvers of one review, whatever crashes meanwhile. Resolves when the ledger has closed it, or patience ends. */
export class Drive {
  readonly #until = Date.now() + PATIENCE_MS;
  readonly changeId: string;

  private constructor(
    readonly cluster: Cluster,
    readonly of: Case,
    readonly row: number,
    readonly change: SubmitInput,
  ) {
    this.changeId = cluster.countersign.prepare(change).changeId;
  }

  static async run(cluster: Cluster, of: Case, row: number, run: string): Promise<Drive> {
    const tip = of.scenario.startsWith('git') ? await cluster.repository.tip() : '';
    const places = { apiUrl: cluster.api.url, tip };
    const drive = new Drive(cluster, of, row, changeOf(of.scenario, row, run, places));
    cluster.armoury.arm(drive.changeId, of.faults);
    await drive.#play();
    return drive;
  }

  async #play(): Promise<void> {
    const { countersign } = this.cluster;
    await this.#persist(() => countersign.submit(this.change, { timeoutMs: 30_000 }));
    if ((await this.#waitFor(['disclosed', 'closed'])) === 'disclosed') await this.#answer();
    await this.#waitFor(['closed']);
    // The workflow ends after its ledger.
    await this.#persist(async () => {
      const { state } = await countersign.result(this.changeId, { timeoutMs: 20_000 });
      if (state === 'PENDING') throw new Error('The workflow is open');
    });
  }

  async #answer(): Promise<void> {
    const { countersign, setup, target } = this.cluster;
    const { scenario } = this.of;
    const alice = createSigner(setup.keys.alice.key);
    // The ledger may know of the disclosure before the workflow does.
    const status = await this.#persist(async () => {
      const heard = await countersign.status(this.changeId);
      if (heard.state === 'RUNNING') throw new Error('Nothing is disclosed yet');
      return heard;
    });
    if (status === null || status.fingerprint === null) return;
    switch (scenario) {
      case 'withdraw':
        await this.#persist(() => countersign.withdraw(this.changeId, { actor: 'sweep', reason: 'withdrawn' }));
        return;
      case 'reject':
        return this.#send(status, alice, 'reject');
      case 'stale':
        await this.#persist(() =>
          target.query(`update ${TABLES[scenario]} set version = version + 1 where id = $1 and version = 1`, [
            this.row,
          ]),
        );
        return this.#send(status, alice, 'confirm');
      case 'git_stale':
        await this.cluster.repository.overtake();
        return this.#send(status, alice, 'confirm');
      case 'http_stale':
        this.cluster.api.overtake(this.row);
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

  /** Bob's answer is accepted, his key revoked, and then the last answer comes. */
  async #withRevokedKey(status: ReviewStatus, alice: Signer): Promise<void> {
    const { cluster } = this;
    const operator = cluster.setup.keys.operator.key;
    const subject = { type: 'person', id: 'bob' } as const;
    const key = { ...newKeyPair(), kind: 'approver', subject, onBehalfOf: null, demo: true } as const;
    const now = (): string => new Date().toISOString();
    await this.#persist(() =>
      cluster.client.asOperator((keys) => keys.add(signKeyEntry({ ...key, addedAt: now() }, operator))),
    );
    const [first = '', ...others] = status.violations.filter((v) => v.need === 'human').map((v) => v.violationId);
    await this.#send(status, createSigner(key), 'confirm', [first]);
    const revocation = { keyId: key.keyId, reason: 'left', revokedAt: now() };
    await this.#persist(() =>
      cluster.client.asOperator((keys) => keys.revoke(signKeyRevocation(revocation, operator))),
    );
    await this.#send(status, alice, 'confirm', others);
  }

  /** Until each has its verdict: an answer whose verdict was lost is sent again. */
  async #send(status: ReviewStatus, signer: Signer, decision: Decision, some?: readonly string[]): Promise<void> {
    const violationIds = some ?? status.violations.filter((v) => v.need === 'human').map((v) => v.violationId);
    if (violationIds.length === 0) return;
    const issuedAt = new Date();
    const validity = { issuedAt, expiresAt: new Date(issuedAt.getTime() + 3_600_000) };
    const answers = signAnswers(status, { violationIds, decision, reason: decision }, signer, validity);
    await this.#persist(async () => {
      const said = await this.cluster.countersign.answer(this.changeId, [...answers], { timeoutMs: 20_000 });
      // A registry is read again after a moment.
      if (Object.values(said).some(({ code }) => code === 'unknown_key')) throw new Error('The key is not known yet');
    });
  }

  async #waitFor(kinds: readonly ('disclosed' | 'closed')[]): Promise<string | null> {
    const row = await this.#persist(async () => {
      const rows = await this.cluster.client.ledger.readKinds(this.changeId, [...kinds]);
      const last = rows.at(-1);
      if (last === undefined) throw new Error('Not yet');
      return last;
    }, 250);
    return row?.row.kind ?? null;
  }

  /** Tries until it goes well; null when patience has ended. Servers and workers are away now and then: that is the point. */
  async #persist<T>(work: () => Promise<T>, pauseMs = 500): Promise<T | null> {
    for (let wait = pauseMs; Date.now() < this.#until; wait = Math.min(2_000, wait * 1.2)) {
      try {
        return await work();
      } catch (error) {
        this.lastTrouble = error instanceof Error ? error.message : String(error);
      }
      await sleep(wait);
      if (Date.now() > this.#mendAt) await this.#mend();
    }
    return null;
  }

  async #mend(): Promise<void> {
    this.#mendAt = Date.now() + MEND_AFTER_MS;
    try {
      if (await mend(this.cluster.temporal, this.changeId)) this.mended++;
    } catch (error) {
      this.lastTrouble = error instanceof Error ? error.message : String(error); // Temporal is away: at the next turn.
    }
  }
  #mendAt = Date.now() + MEND_AFTER_MS;
  /** How often its workflow had to be reset. */
  mended = 0;

  /** What the last call heard that failed; said where a review does not end. */
  lastTrouble = '';
}
