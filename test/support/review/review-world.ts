import { isStatic } from '../../../policy/contracts/readings';
import type { Attestor } from '../../../activities/attestation';
import { evaluateEach } from '../../../activities/review/derivation';
import { isStaged, selectValidators } from '../../../activities/review/derive';
import type { Blocked } from '../../../storage/breakers/breakers';
import type { UnitResults } from '../../../activities/review-types';
import type { AnswerPredicate } from '../../../policy/contracts/answer';
import type { Submission } from '../../../policy/contracts/diff';
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import { policyMoved } from '../../../policy/contracts/failure';
import type { Plan, PlanValidator } from '../../../policy/contracts/plan';
import { stagingSha as stagingShaOf, type StagingRecord } from '../../../policy/contracts/staging-record';
import type { PolicyCallbackResult } from '../../../policy/contracts/violation';
import type { KeyRegistry } from '../../../policy/evidence/key-registry';
import type { TargetFreeze } from '../../../policy/evidence/predicates';
import { JUDGE_ID } from '../../../policy/judge/config';
import { deepFreeze } from '../../../policy/rules/deep-freeze';
import { callbackRegistry, defineCallback } from '../../../policy/rules/callback';
import type { EvaluationInput } from '../../../policy/rules/evaluate';
import { sourceToolRegistry } from '../../../source-tools/define';
import type { PlanSource } from '../../../storage/plans/plan-source';
import { compileText } from '../../../workers/compile';
import { attestorWith } from '../../../workers/signers';
import { testKey, testRegistry, type TestKey } from '../keys';
import { memoryByteStore } from '../memory-byte-store';
import { memoryLedger, type MemoryLedger } from '../memory-ledger';
import { DEMO_VALIDATORS, demoBundle } from './demo-rules';
import { MEMORY_FACTS, MemoryTarget } from './memory-target';
import { reviewDeps, type ReviewDeps } from './review-deps';
import { cardinalityOf } from '../../../policy/decide/violations';
import { toReported } from '../../../policy/decide/reported';
import { ReviewSteps } from './review-steps';

export const START = '2026-03-01T12:00:00.000Z';

export interface WorldOptions {
  /** Top-level members of the bundle, replaced or added. */
  readonly bundle?: Readonly<Record<string, string>>;
  readonly tenant?: string;
  readonly sourceTool?: 'SQLDryRun' | 'Refund';
  readonly text?: string;
  readonly signedBy?: 'service' | 'none';
  readonly requestKey?: string;
  readonly metadata?: Submission['metadata'];
  readonly callback?: (requester: string | null) => PolicyCallbackResult | Promise<PolicyCallbackResult>;
  /** The validators whose circuit breakers do not let the change pass. */
  readonly breakers?: Blocked;
  /** The ledger of another review, so that each sees the outcome of the other. */
  readonly ledger?: MemoryLedger;
}

/** Made once: all worlds have the same keys. */
const KEYS = {
  attestor: testKey('attestor', 'review-worker'),
  committer: testKey('committer', 'committer'),
  operator: testKey('operator', 'operator'),
  service: testKey('service', 'backend', { onBehalfOf: 'rita' }),
  ada: testKey('approver', 'ada'),
  bob: testKey('approver', 'bob'),
  rita: testKey('approver', 'rita'),
  eve: testKey('approver', 'eve'),
};

/** By source tool and text of the bundle. All worlds have the same validators, callbacks and source tools. */
const compiled = new Map<string, ReturnType<typeof compileText>>();

/** A review of a change to a target in memory, under the demo rules. Tests change its members to make steps fail. */
export class ReviewWorld extends ReviewSteps {
  now = new Date(START);
  readonly ledger: MemoryLedger;
  readonly store = memoryByteStore();
  readonly keys = { ...KEYS };
  /** The keys in the registry. A test may revoke or replace them. */
  registered: readonly Pick<TestKey, 'entry'>[] = Object.values(this.keys);
  readonly validators = DEMO_VALIDATORS;
  readonly target = new MemoryTarget();
  readonly tools = sourceToolRegistry([this.target.tool, this.target.cooperative]);
  readonly stagingRecords = new Map<string, StagingRecord>();
  /** The current freeze of the target. */
  freeze: TargetFreeze | 'unknown' | null = null;
  /** Hashes of revoked plans. */
  readonly revoked = new Set<string>();
  /** Whether the committer's configuration marks the target as development. Null: it does not serve the target. */
  development: boolean | null = false;
  readonly plan: Plan;
  readonly planHash: string;
  readonly #callbacks = callbackRegistry([
    defineCallback({
      key: 'ask',
      version: 'v1',
      evaluate: ({ requester }) => this.options.callback?.(requester) ?? { passed: true, message: null },
    }),
  ]);
  #forged = 0;

  constructor(readonly options: WorldOptions = {}) {
    const { sourceTool = 'SQLDryRun', text = 'HOLD', tenant, requestKey, metadata = {} } = options;
    super({ text, sourceTool, tenant, requestKey, metadata });
    this.ledger = options.ledger ?? memoryLedger();
    const extensions = { validators: this.validators, callbacks: this.#callbacks, sourceTools: this.tools };
    const bundle = demoBundle(options.bundle);
    const key = `${sourceTool} ${bundle}`;
    const { plan, planHash } = compiled.get(key) ?? compileText(bundle, extensions, 'shop', sourceTool);
    compiled.set(key, { plan: deepFreeze(plan), planHash });
    this.plan = plan;
    this.planHash = planHash;
    if (options.signedBy !== 'none')
      this.submission = { ...this.submission, envelope: this.signSubmission(this.keys.service) };
  }

  clock(): Date {
    return this.now;
  }

  pass(minutes: number): void {
    this.now = new Date(this.now.getTime() + minutes * 60_000);
  }

  /** Replaces members of the registry entry of a key. */
  reregister(key: TestKey, change: Partial<TestKey['entry']>): void {
    this.registered = this.registered.map((known) =>
      known.entry.keyId === key.keyId ? { entry: { ...known.entry, ...change } } : known,
    );
  }

  get plans(): PlanSource {
    const byHash: PlanSource['byHash'] = async (planHash, revocations) => {
      if (planHash !== this.planHash || (revocations !== 'ignored' && this.revoked.has(planHash)))
        throw policyMoved(`Plan ${planHash} is not in any trusted policy revision that is not revoked`);
      return { plan: this.plan, planHash, revision: 1 };
    };
    return { byHash, current: () => byHash(this.planHash) };
  }

  get registry(): KeyRegistry {
    return testRegistry(...this.registered);
  }

  get attestor(): Attestor {
    return attestorWith(this.keys.attestor);
  }

  get deps(): ReviewDeps {
    const { store, ledger, plans, tools, validators, registry, keys, stagingRecords } = this;
    const { breakers } = this.options;
    const deps = reviewDeps({
      ...{ store, ledger, plans, tools, validators, stagingRecords, keys: registry },
      callbacks: this.#callbacks,
      signers: keys,
      sends: () => this.sends,
      now: () => this.clock(),
    });
    return {
      ...deps,
      breakers: breakers === undefined ? null : { pass: async () => breakers },
      targetIsDevelopment: () => this.development,
      freezes: { current: async () => this.freeze },
      operators: [keys.operator.publicKey],
    };
  }

  #evaluate(which: (v: PlanValidator) => boolean, staging: EvaluationInput['staging']): UnitResults {
    const { changeId, inputSha, raw, validators, plan } = this;
    const { sourceTool, diffSha, metadata } = this.submission;
    const diff = { sourceTool, raw, diffSha, metadata };
    const input = { changeId, inputSha, diff, facts: MEMORY_FACTS, tool: this.target.tool, staging };
    return evaluateEach(validators, selectValidators(this, plan, which), input);
  }

  /** Evaluated anew, because a test may have left out `guard`. */
  protected override staticResults(): UnitResults {
    return this.#evaluate(isStatic, null);
  }

  /** Records a dry run of a change that the guardians forbid, which `stage` would refuse. */
  async stageAnyway(): Promise<void> {
    const record = this.target.record();
    const stagingSha = stagingShaOf(record);
    this.stagingRecords.set(`${this.changeId}/${stagingSha}`, record);
    const body = { stagingSha, record: record as unknown as JsonObject };
    await this.ledger.append(this.changeId, [{ kind: 'staged', at: this.at(), factKey: `staged:${stagingSha}`, body }]);
    const results = this.#evaluate(isStaged, { record, sha: stagingSha });
    this.staged = {
      kind: 'staged',
      stagingSha,
      cardinality: cardinalityOf(record),
      title: 'a change',
      reported: toReported(this.plan, this.changeId, results),
    };
  }

  /** Writes an answer into the ledger without admission. */
  async answerRow(key: TestKey, more: Partial<AnswerPredicate> = {}): Promise<void> {
    const answer = this.sign(key, more) as unknown as JsonObject;
    await this.ledger.append(this.changeId, [
      { kind: 'answer_accepted', at: this.at(), factKey: `forged:${this.#forged++}`, body: { answer } },
    ]);
  }

  /** Runs the steps in the order of the workflow, up to the answers. The judge allows the change. */
  async reviewed(): Promise<this> {
    await this.open();
    await this.guard();
    if ((await this.stage()).kind !== 'staged') throw new Error('not staged');
    if (this.plan.validators.some((v) => v.id === JUDGE_ID)) await this.judged({ status: 'ALLOW' });
    const findings = this.findings();
    if (this.triggered(findings).length > 0) await this.disclose();
    return this;
  }

  /** `reviewed`, and ada confirms every violation that needs a person. */
  async confirmed(): Promise<this> {
    await this.reviewed();
    for (const { need, violationId } of this.disclosed?.violations ?? []) {
      if (need === 'human') await this.answer(this.keys.ada, { violationId });
    }
    return this;
  }
}
