import type { AdmittedWithdrawal, CommitReport, Settled } from '../../../activities/review-types';
import type { AdmittedAnswer, Decision } from '../../../policy/contracts/answer';
import type { Plan } from '../../../policy/contracts/plan';
import type { RollbackReason } from '../../../policy/contracts/outcome';
import { isHardBlock } from '../../../policy/decide/findings';
import { judgeFailureResult } from '../../../policy/decide/judge-failure';
import { JUDGE_ID } from '../../../policy/judge/config';
import { CLOCK_SKEW_MS } from '../../../signing/assess-answer';
import type { SigningKey } from '../../../signing/keys';
import { signEnvelope } from '../../../signing/envelope';
import { seededKey } from '../seeded-key';
import { seededPasskey } from '../seeded-passkey';
import type { ReviewDeps } from './review-deps';
import { allow, ReviewSteps } from './review-steps';

export interface WorldChange {
  readonly table: string;
  readonly requestKey?: string;
  /** Omit the signature of the submission. */
  readonly unsigned?: boolean;
  /** `passkey`: signed in one touch with the person's passkey, instead of the key file. */
  readonly answers?: readonly { readonly by: string; readonly decision: Decision; readonly passkey?: boolean }[];
  /** The row count of the dry run and of the effect. Default: 1. */
  readonly rows?: number;
  /** The target rejects the dry run so. */
  readonly rejects?: { readonly stale?: true; readonly explanation: string };
  /** The row count that the agent claims. Default: that of the dry run. */
  readonly claimedRows?: number;
  readonly judge?: 'ALLOW' | 'BLOCK' | 'missing';
  /**
   * Rolls the change back for this reason after the answers, as its workflow would. `policy_moved`: by a committer that has other rules
   * than the plan was made with.
   */
  readonly stop?: RollbackReason;
  /** Whose key signs the withdrawal of a change that stops as withdrawn. Default: the agent. */
  readonly withdrawnBy?: string;
  /** A bundle that is published after the opening, whose result is then lost: the opening is retried. */
  readonly published?: string;
  /** The key made from this name is revoked after the answers. */
  readonly revoked?: string;
  /** The key made from this name signs that revocation. Default: the operator's. */
  readonly revokedBy?: string;
  /** The key made from this name signs a withdrawal after the answers. It was revoked before, but only the verifiers know it. */
  readonly withdrawnWithRevoked?: string;
  /** Stops after the answers, and leaves the change open. */
  readonly open?: boolean;
}

export interface EvidenceSetting {
  readonly plan: Plan;
  readonly planHash: string;
  readonly keys: { readonly attestor: SigningKey; readonly judge: SigningKey };
  readonly clock: () => Date;
  readonly deps: (review: Pick<ReviewDeps, 'sends'>, ending: RollbackReason | null) => ReviewDeps;
}

/** One review of an update of one row, from its opening to its end. */
export class EvidenceReview extends ReviewSteps {
  readonly plan: Plan;
  readonly planHash: string;
  readonly keys: EvidenceSetting['keys'];
  #ending: RollbackReason | null = null;

  constructor(
    readonly setting: EvidenceSetting,
    readonly change: WorldChange,
  ) {
    const { table, requestKey, rows = 1, claimedRows = rows } = change;
    super({
      text: JSON.stringify({ rows: [{ table, key: { id: 7 }, expect: { version: 3 }, set: { cents: 450 } }] }),
      sourceTool: 'SQLCAS',
      requestKey,
      metadata: { table_name: table, affected_rows: claimedRows },
    });
    ({ plan: this.plan, planHash: this.planHash, keys: this.keys } = setting);
  }

  clock(): Date {
    return this.setting.clock();
  }

  get deps(): ReviewDeps {
    return this.setting.deps({ sends: () => this.sends }, this.#ending);
  }

  /** Runs the steps in the order of the workflow. Null if the change is left open. */
  async run(
    publish: (bundleText: string) => void,
    revoke: (name: string, at: string) => void,
  ): Promise<Settled | CommitReport | null> {
    const { change } = this;
    await this.open();
    if (change.published !== undefined) {
      publish(change.published);
      await this.open();
    }
    if (this.#forbidden()) return this.#end('forbidden');
    const staged = await this.stage();
    if (staged.kind === 'refused') return this.#end('forbidden');
    if (staged.kind === 'rejected') return this.#end(staged.stale === true ? 'stale_base' : 'commit_failed');
    const findings = this.findings({}, await this.#askJudge());
    const answers = this.triggered(findings).length === 0 ? [] : await this.#askPeople(findings);
    if (change.revoked !== undefined) revoke(change.revoked, this.at());
    if (change.withdrawnWithRevoked !== undefined) {
      const before = new Date(Date.parse(this.at()) - 2 * CLOCK_SKEW_MS).toISOString();
      await this.#withdraw(change.withdrawnWithRevoked);
      revoke(change.withdrawnWithRevoked, before);
    }
    if (change.open === true) return null;
    if (change.stop === 'withdrawn') await this.#withdraw(change.withdrawnBy ?? 'agent');
    if (change.stop !== undefined) return this.#end(change.stop);
    if (answers.some(({ decision }) => decision === 'reject')) return this.#end('declined');
    const settled = await this.commit();
    return settled.state === 'REFUSED' ? this.#end(settled.reason) : settled;
  }

  #end(reason: RollbackReason): Promise<Settled> {
    this.#ending = reason;
    return this.rollback({ reason, explanation: `Ended: ${reason}` });
  }

  #withdraw(by: string): Promise<AdmittedWithdrawal> {
    return this.withdraw(seededKey(by), { nonce: `withdraw-${this.changeId.slice(0, 16)}` });
  }

  /** Whether a finding made before the dry run ends the review. */
  #forbidden(): boolean {
    return this.findings().some((finding) => finding.validator_id in this.guarded && isHardBlock(finding));
  }

  async #askJudge(): Promise<unknown> {
    const { judge: status = 'ALLOW' } = this.change;
    if (status === 'missing')
      return judgeFailureResult({
        validatorId: JUDGE_ID,
        changeId: this.changeId,
        failureType: 'TimeoutFailure',
        message: '',
      });
    const evidenceRefs = [`diff:${this.submission.diffSha}#L1`];
    const result =
      status === 'ALLOW' ? allow(JUDGE_ID) : { ...allow(JUDGE_ID), status, reason: 'It looks odd', evidenceRefs };
    await this.judged(result);
    return result;
  }

  async #askPeople(findings: Parameters<ReviewSteps['disclose']>[0]): Promise<readonly AdmittedAnswer[]> {
    await this.disclose(findings);
    const violations = this.disclosed?.violations ?? [];
    const admitted: AdmittedAnswer[] = [];
    for (const { by, decision, passkey = false } of this.change.answers ?? []) {
      const reason = decision === 'reject' ? 'Prices move on Mondays only' : 'Looked at both rows';
      const key = passkey ? seededPasskey(by) : seededKey(by);
      const statements = violations.map(({ violationId }) => {
        // Reviews of the same input have the same violation ids, but a nonce is spent once.
        const nonce = `answer-${by}-${violationId.slice(0, 16)}${this.change.requestKey ?? ''}`;
        return this.statement(key.keyId, { violationId, decision, reason, nonce });
      });
      const answers =
        'sign' in key ? key.sign(statements) : statements.map((statement) => signEnvelope(statement, key));
      admitted.push(...(await this.admit(answers, admitted)).admitted);
    }
    return admitted;
  }
}
