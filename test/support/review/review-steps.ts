import { isStatic } from '../../../policy/contracts/readings';
import { findingsIn } from './written-findings';
import { attest } from '../../../activities/attestation';
import type { CommitDeps } from '../../../activities/committer/commit-deps';
import { inlineDerivation } from '../../../activities/review/derivation';
import { recordDisclosure } from '../../../activities/review/disclose';
import type {
  Admitted,
  AdmittedWithdrawal,
  CommitInput,
  CommitReport,
  Disclosed,
  Opened,
  RollbackInput,
  Settled,
  SettledOrUnknown,
  DryRun,
  UnitResults,
} from '../../../activities/review-types';
import type { AdmittedAnswer, AnswerPredicate } from '../../../policy/contracts/answer';
import type { AttestedPredicate } from '../../../policy/contracts/attested';
import type { JsonValue } from '../../../policy/contracts/canonical-json';
import type { Envelope, Submission } from '../../../policy/contracts/diff';
import { CountersignFailure } from '../../../policy/contracts/failure';
import { FailureType } from '../../../policy/contracts/failure-type';
import type { ValidatorFinding, ValidatorResult } from '../../../policy/contracts/finding';
import type { Plan } from '../../../policy/contracts/plan';
import type { PolicyViolation } from '../../../policy/contracts/violation';
import { assembleFindings, COMPUTED_BY_ASSEMBLY, type RawOutcome } from '../../../policy/decide/findings';
import { fromReported, type Reported } from '../../../policy/decide/reported';
import { matchPolicies } from '../../../policy/decide/violations';
import { givenToJudge } from '../../../policy/evidence/attested-given';
import { statementOf, type PredicateOf, type Statement } from '../../../policy/evidence/statement';
import { JUDGE_ID } from '../../../policy/judge/config';
import { signEnvelope, signPredicate } from '../../../signing/envelope';
import { newNonce } from '../../../signing/nonce';
import type { SigningKey } from '../../../signing/keys';
import { reviewActivities } from './review-deps';
import { SubmittedReview } from './submitted-review';
import { answerOf } from './disclosed-change';

const ANSWER_LIFETIME_MS = 3_600_000;

/**
 * The steps of one review without Temporal: the real activities, with the input that the workflow would pass. A test may omit
 * steps, reorder them or change their input, as an attacker who can schedule activities could.
 */
export abstract class ReviewSteps extends SubmittedReview {
  /** Results of the opening and of the static guardians, by validator id. */
  protected guarded: UnitResults = {};
  #rehearsed: UnitResults = {};

  async open(submission: Submission = this.submission, deps = this.deps): Promise<Opened> {
    await this.deps.store.put(this.submission.tenant, this.raw);
    this.opened = await reviewActivities(deps).openReview({ changeId: this.changeId, submission });
    this.guarded = await this.#asWritten(this.opened.reported);
    return this.opened;
  }

  /** Opens the review while no guardian can run, so that the ledger has no row of their findings. */
  async openUnguarded(): Promise<Opened> {
    const results = () => Promise.reject(CountersignFailure.retryable('No thread answered', FailureType.Backend));
    const threads = { ...inlineDerivation(this.deps), results };
    return this.open(this.submission, { ...this.deps, threads });
  }

  /** Runs each unit of static guardians, as the workflow does for those that could not run when the review was opened. */
  async guard(): Promise<void> {
    const units = new Set(this.plan.validators.filter((v) => isStatic(v) && v.unit !== 'builtin').map((v) => v.unit));
    for (const unit of units) {
      const reported = await reviewActivities(this.deps).runGuardians({ changeId: this.changeId, unit });
      this.guarded = { ...this.guarded, ...(await this.#asWritten(reported)) };
    }
  }

  async stage(): Promise<DryRun> {
    const staged = await reviewActivities(this.deps).stage({ changeId: this.changeId });
    if (staged.kind === 'staged') {
      this.staged = staged;
      this.#rehearsed = await this.#asWritten(staged.reported);
    }
    return staged;
  }

  /** The results with the details that their rows have and a history does not. */
  async #asWritten(reported: Reported): Promise<UnitResults> {
    const rows = await this.deps.ledger.readKinds(this.changeId, ['findings']);
    const allowed = reported.allowed.map((place) => this.plan.validators[place]?.id);
    const written = rows
      .flatMap(({ row }) => findingsIn(row))
      .flatMap(({ detectedAt: _phase, class: _class, logic_hash: _hash, ...result }) =>
        allowed.includes(result.validator_id) ? [[result.validator_id, result] as const] : [],
      );
    return { ...fromReported(this.plan, reported), ...Object.fromEntries(written) };
  }

  /** Appends a record of the judge, signed as its worker signs it unless `over` or `key` changes that. */
  async judged(
    result: Partial<ValidatorResult> & { status: ValidatorResult['status'] },
    over: Partial<AttestedPredicate> = {},
    key: SigningKey = this.keys.judge ?? this.keys.attestor,
  ): Promise<void> {
    const validator = this.plan.validators.find((v) => v.id === JUDGE_ID);
    if (validator === undefined) throw new Error('The plan has no judge');
    const stagingSha = over.stagingSha === undefined ? this.input.stagingSha : over.stagingSha;
    const logicHash = validator.logic_hash;
    const given = givenToJudge({ ...this.ref, stagingSha, logicHash });
    const allowed = result.status === 'ALLOW';
    const complete = {
      validator_id: JUDGE_ID,
      reason: allowed ? '' : 'the judge blocks the change',
      evidenceRefs: allowed ? [] : [`review:${this.changeId}`],
      ...result,
    } as unknown as JsonValue;
    const attestation = { kind: 'judge', subject: JUDGE_ID, logicHash, stagingSha, given, result: complete } as const;
    const sign = (predicate: AttestedPredicate): Envelope =>
      signPredicate('attested', { ...predicate, ...over, keyId: key.keyId }, key);
    const row = attest({ keyId: key.keyId, sign }, this.ref, attestation, this.at());
    await this.deps.ledger.append(this.changeId, [row]);
  }

  /** Results of the static guardians for `findings`. */
  protected staticResults(): UnitResults {
    return this.guarded;
  }

  /** The findings as the workflow assembles them, with the given result of the judge; `over` replaces outcomes by validator id. */
  findings(over: Readonly<Record<string, RawOutcome>> = {}, judge: unknown = allow(JUDGE_ID)): ValidatorFinding[] {
    const { plan, changeId, inputSha, opened } = this;
    const derived = { ...this.staticResults(), ...resultsOf(this.plan, this.staged), ...this.#rehearsed };
    const results: UnitResults = { ...resultsOf(this.plan, opened), ...derived, [JUDGE_ID]: judge };
    const ids = plan.validators.map(({ id }) => id).filter((id) => !COMPUTED_BY_ASSEMBLY.has(id));
    const outcomes = new Map(ids.map((id) => [id, over[id] ?? ({ kind: 'result', result: results[id] } as const)]));
    const { tenant, target, sourceTool } = this.submission;
    const context = { tenant, target, sourceTool, requester: opened?.requester ?? null, inputSha };
    return assembleFindings({ plan, changeId, outcomes, waiving: { context, at: opened?.openedAt ?? '' } });
  }

  /** The policies that the findings trigger, after the dry run. */
  protected triggered(findings: readonly ValidatorFinding[]): ReturnType<typeof matchPolicies> {
    return matchPolicies(this.plan, findings, this.staged?.cardinality ?? null);
  }

  /** With `findings`: writes them as they are, as a process with the role and the key of the review worker could. */
  async disclose(findings?: readonly ValidatorFinding[]): Promise<Disclosed> {
    const { stagingSha } = this.input;
    const requester = this.opened?.requester ?? null;
    const disclosed =
      findings === undefined
        ? await reviewActivities(this.deps).disclose({ changeId: this.changeId, stagingSha, unrecorded: {} })
        : await recordDisclosure(this.deps, this.plan, {
            ...this.ref,
            stagingSha,
            requester,
            findings,
            triggered: this.triggered(findings),
          });
    const row = (await this.deps.ledger.readKinds(this.changeId, ['disclosed'])).at(-1)?.row;
    this.disclosed = { ...disclosed, violations: row?.body['violations'] as unknown as readonly PolicyViolation[] };
    return disclosed;
  }

  /** The signed answer that confirms the first violation that needs a person; `more` replaces members. */
  sign(key: SigningKey, more: Partial<AnswerPredicate> = {}): Envelope {
    return signEnvelope(this.statement(key.keyId, more), key);
  }

  /** An answer for the key `keyId` to sign; `more` replaces members. */
  statement(keyId: string, more: Partial<AnswerPredicate> = {}): Statement<'answer'> {
    const now = this.clock();
    const predicate = answerOf(keyId, {
      changeId: this.changeId,
      fingerprint: this.disclosed?.fingerprint ?? '0'.repeat(64),
      violationId: this.disclosed?.violations.find((v) => v.need === 'human')?.violationId ?? '0'.repeat(64),
      issuedAt: now.toISOString(),
      expiresAt: new Date(now.getTime() + ANSWER_LIFETIME_MS).toISOString(),
      ...more,
    });
    return statementOf('answer', predicate);
  }

  /** Passes answers to the admission. `admitted`: those admitted before. */
  admit(answers: readonly Envelope[], admitted: readonly AdmittedAnswer[] = []): Promise<Admitted> {
    return reviewActivities(this.deps).admitAnswer({
      changeId: this.changeId,
      closed: false,
      admitted: admitted.map(({ digest }) => digest),
      message: { answers },
      via: 'update',
    });
  }

  answer(key: SigningKey, more: Partial<AnswerPredicate> = {}): Promise<Admitted> {
    return this.admit([this.sign(key, more)]);
  }

  /** Withdraws the change as its requester or an approver; `more` replaces members of the statement. */
  withdraw(key: SigningKey, more: Partial<PredicateOf<'withdraw'>> = {}): Promise<AdmittedWithdrawal> {
    const { changeId } = this;
    const members = { changeId, actor: 'shopbot', reason: 'not needed', nonce: newNonce(), issuedAt: this.at() };
    const statement = signPredicate('withdraw', { ...members, keyId: key.keyId, ...more }, key);
    return reviewActivities(this.deps).admitWithdrawal({
      changeId,
      kind: 'withdraw',
      message: { statement },
      via: 'update',
    });
  }

  /** As the workflow of the change `by` does, which names this one in its signed submission. */
  supersedeBy(by: string): Promise<AdmittedWithdrawal> {
    const { changeId } = this;
    return reviewActivities(this.deps).admitWithdrawal({ changeId, kind: 'supersede', message: { by }, via: 'signal' });
  }

  commit(input: Partial<CommitInput> = {}, deps: Partial<CommitDeps> = {}): Promise<CommitReport> {
    return reviewActivities({ ...this.deps, ...deps }).commit({ ...this.input, ...input });
  }

  rollback(more: Partial<RollbackInput> = {}): Promise<Settled> {
    const { changeId, submission } = this;
    return reviewActivities(this.deps).rollback({
      changeId,
      submission,
      reason: 'withdrawn',
      explanation: 'taken back',
      ...more,
    });
  }

  reconcile(): Promise<SettledOrUnknown> {
    return reviewActivities(this.deps).reconcile(this.input);
  }
}

/** The results that an activity reported; none without one. */
export function resultsOf(plan: Plan, of: { readonly reported: Reported } | null | undefined): UnitResults {
  return of == null ? {} : fromReported(plan, of.reported);
}

export function allow(id: string): ValidatorResult {
  return { validator_id: id, status: 'ALLOW', reason: '', evidenceRefs: [] };
}
