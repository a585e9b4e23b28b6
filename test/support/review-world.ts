import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { createAnswerActivities } from '../../activities/review/admit-answer';
import { attest, type Attestor } from '../../activities/attestation';
import type { CommitDeps } from '../../activities/committer/commit-deps';
import { createCommitActivities } from '../../activities/committer/create-commit-activities';
import { createStagingActivities } from '../../activities/committer/stage';
import type { TargetConfig } from '../../activities/committer/targets';
import { createDisclosureActivities } from '../../activities/review/disclose';
import { inActivity } from '../../dev/activity-context';
import { CountersignFailure, policyMoved } from '../../policy/contracts/failure';
import { evaluateEach } from '../../activities/review/derivation';
import { selectValidators, isStaged, isStatic } from '../../activities/review/derive';
import { createGuardianActivities } from '../../activities/review/run-guardians';
import { createOpeningActivities } from '../../activities/review/open-review';
import type { BreakerReading } from '../../activities/review/attest-world-facts';
import type { PlanSource } from '../../storage/plans/plan-source';
import type {
  Admitted,
  ChangeRef,
  CommitInput,
  CommitResult,
  Disclosed,
  Opened,
  RollbackInput,
  Settled,
  Staged,
} from '../../activities/review-types';
import type {
  CommitContext,
  CommitResult as EffectResult,
  ReadBack,
  TargetEffects,
} from '../../policy/contracts/target-effects';
import { defineSourceTool, sourceToolRegistry } from '../../source-tools/define';
import { targetUnavailable } from '../../source-tools/target-failure';
import { compilePlan } from '../../policy/bundle/compile-plan';
import { parseBundle } from '../../policy/bundle/parse-bundle';
import type { AnswerPredicate } from '../../policy/contracts/answer';
import type { AttestedPredicate } from '../../policy/contracts/attested';
import type { JsonObject, JsonValue } from '../../policy/contracts/canonical-json';
import { Submission } from '../../policy/contracts/diff';
import { changeId as changeIdOf, inputSha as inputShaOf } from '../../policy/contracts/change-id';
import type { ValidatorFinding, ValidatorResult } from '../../policy/contracts/finding';
import { FailureType } from '../../policy/contracts/failure-type';
import { sha256Hex } from '../../policy/contracts/hash';
import { GENESIS, ledgerHash, type LedgerKind, type LedgerRow } from '../../policy/contracts/ledger';
import { stagingSha as stagingShaOf, type StagingRecord } from '../../policy/contracts/staging-record';
import type { PolicyCallbackResult } from '../../policy/contracts/violation';
import { assembleFindings, COMPUTED_BY_ASSEMBLY, type RawOutcome } from '../../policy/decide/findings';
import { cardinalityOf, matchPolicies } from '../../policy/decide/violations';
import { givenToJudge } from '../../policy/evidence/attested-given';
import type { StoredRow } from '../../policy/evidence/chain';
import { aggregateDefinition } from '../../policy/rules/aggregate/aggregate';
import { BUILTIN_VALIDATORS } from '../../policy/rules/builtin';
import { callbackRegistry, defineCallback } from '../../policy/rules/callback';
import { defineRule, type ValidatorDefinition } from '../../policy/rules/define';
import { validatorRegistry } from '../../policy/rules/registry';
import { signPredicate } from '../../signing/envelope';
import { attestorWith, receiptSignerWith } from '../../workers/signers';
import { newNonce } from '../../signing/keys';
import { testKey, testRegistry, type TestKey } from './keys';
import type { TargetFreeze } from '../../policy/evidence/predicates';
import { memoryByteStore } from './memory-byte-store';
import { memorySends } from './memory-sends';
import { memoryWithAdvisoryLock, memoryLedger, type MemoryLedger } from './memory-ledger';

/**
 * A review in memory: the real activities, in the order in which the workflow calls them, on a ledger, store and target in
 * memory. A test may leave steps out, reorder them or change their input, as an attacker who can schedule activities may.
 */

export const START = '2026-03-01T12:00:00.000Z';

const Settings = z.strictObject({});
const rule = (
  name: string,
  word: string,
  more: { level?: 'forbid' | 'confirm' | 'advise'; phase?: 'post'; reads?: readonly ('bytes' | 'staging')[] } = {},
): ValidatorDefinition<z.infer<typeof Settings>> =>
  defineRule({
    name,
    pack: 'demo-pack',
    logicRevision: 1,
    config: Settings,
    sourceTools: '*',
    reads: more.reads ?? ['bytes'],
    defaultLevel: more.level ?? 'confirm',
    ...(more.phase === undefined ? {} : { phase: more.phase }),
    why: 'An example.',
    docs: 'docs/rules/demo.md',
    apply: ({ diff, staging }) => {
      const text = new TextDecoder().decode(diff.raw);
      const rows = more.reads?.includes('staging') === true ? (staging?.record.tables[0]?.updated ?? 0) : 0;
      return text.includes(word) || (word === 'MANY' && rows > 5)
        ? {
            fires: true,
            reason: `says ${word}${rows > 5 ? ` over ${rows} rows` : ''}`,
            evidence: [`diff:${diff.diffSha}#L1:C1-L1:C2`],
          }
        : { fires: false };
    },
  });

/** A rule fires if the diff contains its word. */
const RULES = [
  rule('demo_hold', 'HOLD'),
  rule('demo_other', 'OTHER'),
  rule('demo_forbid', 'FORBID', { level: 'forbid' }),
  rule('demo_advice', 'ADVICE', { level: 'advise' }),
  rule('demo_post', 'MANY', { phase: 'post', reads: ['bytes', 'staging'] }),
];

const judge: ValidatorDefinition<Record<string, unknown>> = {
  implementation: 'llm_judge',
  pack: null,
  kind: 'attested',
  version: 'v1',
  logicRevision: 1,
  config: z.strictObject({ model: z.string() }),
  sourceTools: '*',
  phase: 'preflight',
  reads: ['facts'],
  parser: null,
  defaultLevel: 'confirm',
  why: 'An example.',
  docs: 'docs/judge.md',
  evaluate: null,
};

export const JUDGE_ID = 'guardian.llm_judge';
export const HOLD_ID = 'guardian.demo_hold';

const BUNDLE: Readonly<Record<string, string>> = {
  version: '1',
  name: 'Shop',
  domain: 'shop',
  provider: 'openai',
  model: 'gpt-x',
  targets: '\n  shop: { sourceTools: [SQLDryRun, Refund], cooperative: [Refund] }',
  groups: '\n  dba: { members: [ada, bob, rita] }',
  defaultGroup: 'dba',
  validators: '\n  - pack: demo-pack\n  - judge: {model: m}',
};

export interface WorldOptions {
  /** Top-level members of the bundle, replaced or added. */
  readonly bundle?: Readonly<Record<string, string>>;
  readonly tenant?: string;
  readonly sourceTool?: 'SQLDryRun' | 'Refund';
  readonly text?: string;
  readonly signedBy?: 'service' | 'nobody';
  readonly requestKey?: string;
  readonly callback?: (requester: string | null) => PolicyCallbackResult;
  /** What the circuit breakers report; `away`: they cannot be read. */
  readonly breakers?: readonly BreakerReading[] | 'away';
  /** The ledger of another review, so that each sees the outcome of the other. */
  readonly ledger?: MemoryLedger;
}

export class ReviewWorld {
  now = new Date(START);
  readonly ledger: MemoryLedger;
  readonly store = memoryByteStore();
  readonly keys = {
    attestor: testKey('attestor', 'review-worker'),
    committer: testKey('committer', 'committer'),
    operator: testKey('operator', 'operator'),
    service: testKey('service', 'backend', { onBehalfOf: 'rita' }),
    ada: testKey('approver', 'ada'),
    bob: testKey('approver', 'bob'),
    rita: testKey('approver', 'rita'),
    eve: testKey('approver', 'eve'),
  };
  /** The keys in the registry; a test may revoke or replace them. */
  registered: readonly { readonly entry: TestKey['entry'] }[] = Object.values(this.keys);
  readonly validators = validatorRegistry([...RULES, judge, aggregateDefinition, ...BUILTIN_VALIDATORS] as never);
  readonly target = new MemoryTarget();
  readonly sends = memorySends();
  /** The current freeze of the target. */
  freeze: TargetFreeze | 'unknown' | null = null;
  /** Plans that were revoked. */
  readonly revoked = new Set<string>();
  /** What the committer's own configuration says of the target. */
  development: boolean | null = false;
  readonly stagingRecords = new Map<string, StagingRecord>();
  /** The bundle's plan, as the process compiles it. */
  readonly plan;
  readonly planHash;
  readonly submission: Submission;
  readonly changeId: string;
  readonly inputSha: string;
  /** Of the opening. */
  attempt = 1;
  opened: Opened | null = null;
  staged: Extract<Staged, { kind: 'staged' }> | null = null;
  disclosed: Disclosed | null = null;
  #nth = 0;

  constructor(readonly options: WorldOptions = {}) {
    const { bundle = {}, sourceTool = 'SQLDryRun', text = 'HOLD', signedBy = 'service', requestKey = '' } = options;
    this.ledger = options.ledger ?? memoryLedger();
    const parsed = parseBundle(
      Object.entries({ ...BUNDLE, ...bundle })
        .map(([key, value]) => `${key}:${value.startsWith('\n') ? value : ` ${value}`}`)
        .join('\n'),
    );
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues));
    const compiled = compilePlan(parsed.bundle, this.validators, {
      target: 'shop',
      sourceTool,
      tools: this.tools,
      callbacks: this.#callbacks(),
    });
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.issues));
    this.plan = compiled.plan;
    this.planHash = compiled.planHash;
    const raw = new TextEncoder().encode(text);
    const plain = Submission.parse({
      tenant: options.tenant ?? 'acme',
      target: 'shop',
      sourceTool,
      diffSha: sha256Hex(raw),
      requestKey,
    });
    this.changeId = changeIdOf(plain);
    this.inputSha = inputShaOf(plain);
    this.submission = signedBy === 'nobody' ? plain : { ...plain, envelope: this.signSubmission(this.keys.service) };
    this.raw = raw;
  }
  readonly raw: Uint8Array;

  signSubmission(key: TestKey, more: Partial<{ changeId: string; inputSha: string; onBehalfOf: string | null }> = {}) {
    const { changeId, inputSha } = this;
    return signPredicate(
      'submission',
      {
        changeId,
        inputSha,
        keyId: key.keyId,
        onBehalfOf: key.entry.onBehalfOf,
        nonce: newNonce(),
        issuedAt: START,
        ...more,
      },
      key,
    );
  }

  #callbacks() {
    return callbackRegistry([
      defineCallback({
        key: 'ask',
        version: 'v1',
        evaluate: ({ requester }) => this.options.callback?.(requester) ?? { passed: true, message: null },
      }),
    ]);
  }

  get plans(): PlanSource {
    const byHash: PlanSource['byHash'] = async (planHash) => {
      if (planHash !== this.planHash || this.revoked.has(planHash))
        throw policyMoved(`Plan ${planHash} stands in no trusted, unrevoked policy revision`);
      return { plan: this.plan, planHash, revision: 1 };
    };
    return { byHash, current: () => byHash(this.planHash) };
  }

  get tools() {
    return sourceToolRegistry([this.target.tool, this.target.cooperative]);
  }

  get registry() {
    return testRegistry(...this.registered);
  }

  readonly attestor: Attestor = attestorWith(this.keys.attestor);

  get deps(): CommitDeps {
    const { store, plans, validators, ledger, registry: keys } = this;
    const target: TargetConfig = {
      name: 'shop',
      development: this.development === true,
      stageUrl: 'memory://stage',
      commitUrl: 'memory://commit',
    };
    return {
      store,
      plans,
      validators,
      ledger,
      keys,
      tools: this.tools,
      stagingRecords: { get: async (changeId, sha) => this.stagingRecords.get(`${changeId}/${sha}`) ?? null },
      targetIsDevelopment: () => this.development,
      targets: new Map([['shop', target]]),
      sends: () => this.sends,
      freezes: { current: async () => this.freeze },
      operators: [this.keys.operator.publicKey],
      receipts: receiptSignerWith(this.keys.committer),
      now: () => this.now,
      actor: 'committer:test',
    };
  }

  get ref(): ChangeRef {
    const { tenant, target, sourceTool, diffSha, metadata } = this.submission;
    return {
      changeId: this.changeId,
      tenant,
      target,
      sourceTool,
      diffSha,
      metadata,
      inputSha: this.inputSha,
      planHash: this.planHash,
    };
  }

  pass(minutes: number): void {
    this.now = new Date(this.now.getTime() + minutes * 60_000);
  }

  async open(submission: Submission = this.submission): Promise<Opened> {
    await this.store.put(this.submission.tenant, this.raw);
    const breakers = this.options.breakers;
    const away = CountersignFailure.retryable('The circuit breakers cannot be read', FailureType.Backend);
    const deps = {
      ...this.deps,
      withAdvisoryLock: memoryWithAdvisoryLock(this.ledger),
      attestor: this.attestor,
      readBreakers: breakers === undefined ? null : async () => (breakers === 'away' ? Promise.reject(away) : breakers),
      attempt: () => this.attempt,
      channels: [],
      actor: 'review-worker',
    };
    this.opened = await createOpeningActivities(deps).openReview({ changeId: this.changeId, submission });
    return this.opened;
  }

  /** Runs each unit of static guardians, which write their findings into the ledger. */
  async guard(): Promise<void> {
    const units = new Set(this.plan.validators.filter((v) => isStatic(v) && v.unit !== 'builtin').map((v) => v.unit));
    const guardians = createGuardianActivities({ ...this.deps, actor: 'review-worker' });
    for (const unit of units) await guardians.runGuardians({ ...this.ref, unit });
  }

  async stage(): Promise<Staged> {
    const deps = {
      ...this.deps,
      staging: {
        put: async (changeId: string, sha: string, record: StagingRecord) =>
          void this.stagingRecords.set(`${changeId}/${sha}`, record),
      },
    };
    const staged = await inActivity(() => createStagingActivities(deps).stage(this.ref));
    if (staged.kind === 'staged') this.staged = staged;
    return staged;
  }

  /** A dry run that the committer has a record of, although its guardians would have refused it. */
  async stageAnyway(): Promise<void> {
    const record = this.target.record();
    const stagingSha = stagingShaOf(record);
    this.stagingRecords.set(`${this.changeId}/${stagingSha}`, record);
    const body = { stagingSha, record: record as unknown as JsonObject };
    await this.ledger.append(this.changeId, [
      { kind: 'staged', at: this.at(), actor: 'committer:test', factKey: `staged:${stagingSha}`, body },
    ]);
    const evaluation = {
      changeId: this.changeId,
      inputSha: this.inputSha,
      diff: this.#diff(),
      facts: FACTS,
      tool: this.target.tool,
      staging: { record, sha: stagingSha },
    };
    this.staged = {
      kind: 'staged',
      record,
      stagingSha,
      results: evaluateEach(this.validators, selectValidators(this, this.plan, isStaged), evaluation),
    };
  }

  #diff() {
    const { sourceTool, diffSha, metadata } = this.submission;
    return { sourceTool, raw: this.raw, diffSha, metadata };
  }

  /** A record of the judge, signed as its worker signs it, unless a test says otherwise. */
  async judged(
    result: Partial<ValidatorResult> & { status: ValidatorResult['status'] },
    over: Partial<AttestedPredicate> = {},
    key: TestKey = this.keys.attestor,
  ): Promise<void> {
    const validator = this.plan.validators.find((v) => v.id === JUDGE_ID);
    if (validator === undefined) throw new Error('no judge in this plan');
    const stagingSha = over.stagingSha === undefined ? (this.staged?.stagingSha ?? null) : over.stagingSha;
    const given = givenToJudge({ ...this.ref, stagingSha, logicHash: validator.logic_hash });
    const said = {
      validator_id: JUDGE_ID,
      reason: result.status === 'ALLOW' ? '' : 'the judge says so',
      evidenceRefs: result.status === 'ALLOW' ? [] : [`review:${this.changeId}`],
      ...result,
    };
    const attestor: Attestor = {
      keyId: key.keyId,
      sign: (predicate) => signPredicate('attested', { ...predicate, ...over, keyId: key.keyId }, key),
    };
    const entry = attest(
      attestor,
      this.ref,
      {
        kind: 'judge',
        subject: JUDGE_ID,
        logicHash: validator.logic_hash,
        stagingSha,
        given,
        result: said as unknown as JsonValue,
      },
      this.at(),
      'judge-worker',
    );
    await this.ledger.append(this.changeId, [entry]);
  }

  at(): string {
    return this.now.toISOString();
  }

  /** The array as the workflow builds it, with the judge's result and whatever else a test puts in. */
  findings(over: Readonly<Record<string, RawOutcome>> = {}, judgeSays: unknown = allow(JUDGE_ID)): ValidatorFinding[] {
    const { plan, changeId, inputSha, validators } = this;
    const evaluation = { changeId, inputSha, diff: this.#diff(), facts: FACTS, tool: this.target.tool, staging: null };
    const staging = this.staged === null ? null : { record: this.staged.record, sha: this.staged.stagingSha };
    const derived = {
      ...evaluateEach(validators, selectValidators(this, plan, isStatic), evaluation),
      ...evaluateEach(validators, selectValidators(this, plan, isStaged), { ...evaluation, staging }),
    };
    const world = this.opened?.results ?? {};
    const results: Record<string, unknown> = { ...derived, ...world, [JUDGE_ID]: judgeSays };
    const outcomes = new Map<string, RawOutcome>();
    for (const { id } of plan.validators) {
      if (COMPUTED_BY_ASSEMBLY.has(id)) continue;
      outcomes.set(id, over[id] ?? { kind: 'result', result: results[id] });
    }
    const { tenant, target, sourceTool } = this.submission;
    const requester = this.opened?.requester ?? null;
    const waiving = { context: { tenant, target, sourceTool, requester, inputSha }, at: this.opened?.openedAt ?? '' };
    return assembleFindings({ plan, changeId, outcomes, waiving });
  }

  async disclose(
    findings: readonly ValidatorFinding[] = this.findings(),
    over: { readonly stagingSha?: string | null; readonly requester?: string | null } = {},
  ): Promise<Disclosed> {
    const deps = { ...this.deps, callbacks: this.#callbacks(), attestor: this.attestor, actor: 'review-worker' };
    const stagingSha = over.stagingSha === undefined ? (this.staged?.stagingSha ?? null) : over.stagingSha;
    const requester = over.requester === undefined ? (this.opened?.requester ?? null) : over.requester;
    const triggered = matchPolicies(this.plan, findings, cardinalityOf(this.staged?.record ?? null));
    this.disclosed = await createDisclosureActivities(deps).disclose({
      ...this.ref,
      stagingSha,
      requester,
      findings,
      triggered,
    });
    return this.disclosed;
  }

  sign(key: TestKey, more: Partial<AnswerPredicate> = {}) {
    const predicate: AnswerPredicate = {
      changeId: this.changeId,
      fingerprint: this.disclosed?.fingerprint ?? '0'.repeat(64),
      violationId: this.disclosed?.violations.find((v) => v.need === 'human')?.violationId ?? '0'.repeat(64),
      decision: 'confirm',
      reason: 'seen',
      keyId: key.keyId,
      context: { tenant: 'acme', target: 'shop', environment: 'production' },
      coverage: null,
      nonce: newNonce(),
      issuedAt: this.at(),
      expiresAt: new Date(this.now.getTime() + 30 * 60_000).toISOString(),
      ...more,
    };
    return signPredicate('answer', predicate, key);
  }

  /** Through the real admission. */
  async answer(key: TestKey, more: Partial<AnswerPredicate> = {}): Promise<Admitted> {
    const { disclosed, plan } = this;
    const deps = { ledger: this.ledger, keys: this.registry, now: () => this.now, callId: () => `call-${this.#nth++}` };
    const violations = (disclosed?.violations ?? []).map((v) => ({
      ...v,
      members: plan.groups[v.group]?.members ?? [],
    }));
    return createAnswerActivities(deps).admitAnswer({
      changeId: this.changeId,
      context: { tenant: 'acme', target: 'shop', environment: 'production' },
      answersMode: plan.answers,
      development: plan.development,
      fingerprint: disclosed?.fingerprint ?? null,
      closed: false,
      requester: this.opened?.requester ?? null,
      violations,
      admitted: [],
      message: { answers: [this.sign(key, more)] },
      via: 'update',
    });
  }

  /** An answer that never went through admission, straight into the ledger. */
  async answerRow(key: TestKey, more: Partial<AnswerPredicate> = {}): Promise<void> {
    const answer = this.sign(key, more) as unknown as JsonObject;
    await this.ledger.append(this.changeId, [
      { kind: 'answer_accepted', at: this.at(), actor: 'x', factKey: `forged:${this.#nth++}`, body: { answer } },
    ]);
  }

  /** As the workflow goes, up to the answers. */
  async reviewed(): Promise<this> {
    await this.open();
    await this.guard();
    if ((await this.stage()).kind !== 'staged') throw new Error('not staged');
    if (this.plan.validators.some((v) => v.id === JUDGE_ID)) await this.judged({ status: 'ALLOW' });
    const findings = this.findings();
    if (matchPolicies(this.plan, findings, null).length > 0) await this.disclose(findings);
    return this;
  }

  async confirmed(): Promise<this> {
    await this.reviewed();
    for (const violation of this.disclosed?.violations ?? []) {
      if (violation.need === 'human') await this.answer(this.keys.ada, { violationId: violation.violationId });
    }
    return this;
  }

  get input(): CommitInput {
    return {
      changeId: this.changeId,
      planHash: this.planHash,
      stagingSha: this.staged?.stagingSha ?? null,
      fingerprint: this.disclosed?.fingerprint ?? null,
    };
  }

  commit(input: Partial<CommitInput> = {}, deps: Partial<CommitDeps> = {}): Promise<CommitResult> {
    return inActivity(() => createCommitActivities({ ...this.deps, ...deps }).commit({ ...this.input, ...input }));
  }

  rollback(more: Partial<RollbackInput> = {}): Promise<Settled> {
    const { changeId, submission, inputSha, planHash } = this;
    const input: RollbackInput = {
      changeId,
      submission,
      inputSha,
      planHash,
      stagingSha: null,
      fingerprint: null,
      mode: 'enforced',
      reason: 'withdrawn',
      explanation: 'taken back',
      ...more,
    };
    return inActivity(() => createCommitActivities(this.deps).rollback(input));
  }

  reconcile(): Promise<CommitResult> {
    return inActivity(() => createCommitActivities(this.deps).reconcile(this.input));
  }

  rows(): Promise<readonly StoredRow[]> {
    return this.ledger.read(this.changeId);
  }

  async kinds(): Promise<LedgerKind[]> {
    return (await this.rows()).map(({ row }) => row.kind);
  }
}

/** What the extractor of the memory target reads: nothing. */
const FACTS = { ok: true, kind: 'memory', parser: { name: 'memory', version: '1' } } as const;

/** A target that keeps a marker for each change, like a real one. */
export class MemoryTarget {
  /** Rows that a dry run touches now; another number is another world. */
  updated = 1;
  /** How often an effect was applied. */
  applied = 0;
  /** Called inside `commit`, before the effect. */
  before: () => Promise<void> = async () => {};
  /** The answer of COMMIT is lost. */
  loses = false;
  /** Keeps no marker that can be asked. */
  blind = false;
  /** Cannot be reached. */
  away = false;
  /** Post validators run after the effect, as for git and HTTP. */
  late = false;
  readonly markers = new Map<string, JsonObject | 'sealed'>();
  /** What `seal` and `commit` were called with. */
  readonly settings: unknown[] = [];

  record(): StagingRecord {
    const { updated } = this;
    return {
      sourceTool: 'SQLDryRun',
      target: 'shop',
      origin: 'measured',
      statements: [],
      tables: [
        {
          table: 'orders',
          inserted: 0,
          updated,
          deleted: 0,
          touchedSha: String(updated % 10).repeat(64),
          keyed: true,
          volatileColumns: [],
        },
      ],
      sideEffects: [],
      fullyCaptured: true,
      uncaptured: [],
      base: {},
      serverVersion: 'memory',
    };
  }

  /** One at a time past this point, as the marker's row lock makes it. */
  #turn: Promise<unknown> = Promise.resolve();

  async #commit(ctx: CommitContext): Promise<EffectResult> {
    await this.before();
    const mine = this.#turn.then(() => this.#locked(ctx));
    this.#turn = mine.catch(() => {});
    return mine;
  }

  async #locked(ctx: CommitContext): Promise<EffectResult> {
    const marker = this.markers.get(ctx.idempotency);
    if (marker === 'sealed') return { kind: 'sealed' };
    if (marker !== undefined) return this.#afterwards(ctx, marker);
    const record = this.record();
    if (stagingShaOf(record) !== stagingShaOf(ctx.approved))
      return { kind: 'stale', explanation: 'the base has moved' };
    const post = this.late ? undefined : await ctx.postCheck?.(record);
    if (post?.ok === false) return { kind: 'post_failed', explanation: post.explanation };
    this.applied++;
    const effect = { rows: record.tables[0]?.updated ?? 0 };
    this.markers.set(ctx.idempotency, effect);
    return this.loses
      ? { kind: 'unknown', explanation: 'the answer of COMMIT was lost' }
      : this.#afterwards(ctx, effect);
  }

  async #afterwards(ctx: CommitContext, effect: JsonObject): Promise<EffectResult> {
    const post = this.late ? await ctx.postCheck?.(this.record()) : undefined;
    if (post?.ok !== false) return { kind: 'applied', effect, replayed: false };
    this.applied--;
    return { kind: 'compensated', explanation: post.explanation, effect };
  }

  readonly effects: TargetEffects = {
    stage: async () => ({ kind: 'staged', record: this.record(), preview: {} }),
    commit: (ctx) => this.#commit(ctx),
    readBack: async (ctx) => this.#found(ctx.changeId),
    seal: async (ctx) => {
      await this.#turn;
      this.settings.push(ctx.settings);
      if (this.away) throw targetUnavailable('shop', 'it is away');
      if (this.blind) return { found: 'unknown', explanation: 'the target does not tell' };
      if (!this.markers.has(ctx.changeId)) this.markers.set(ctx.changeId, 'sealed');
      return this.#found(ctx.changeId);
    },
  };

  readonly tool = defineSourceTool({
    sourceTool: 'SQLDryRun',
    mode: 'enforced',
    parser: FACTS.parser,
    facts: () => FACTS,
    staging: async () => this.effects,
  });

  readonly cooperative = defineSourceTool({
    ...this.tool,
    sourceTool: 'Refund',
    mode: 'cooperative',
    staging: null,
  });

  #found(changeId: string): ReadBack {
    const marker = this.markers.get(changeId);
    if (marker === undefined || marker === 'sealed') return { found: false };
    return { found: true, effect: marker, ...(this.late ? { unchecked: true } : {}) };
  }
}

export function allow(id: string): ValidatorResult {
  return { validator_id: id, status: 'ALLOW', reason: '', evidenceRefs: [] };
}

/** Rows with some of them changed, and the chain made anew: what a writer of the ledger could leave behind. */
export function rechained(rows: readonly StoredRow[], change: (row: LedgerRow) => LedgerRow | null): StoredRow[] {
  let prev = GENESIS;
  return rows
    .flatMap(({ row }) => change(structuredClone(row)) ?? [])
    .map((row, n) => {
      const linked = { ...row, n, prev };
      prev = ledgerHash(linked);
      return { row: linked, hash: prev };
    });
}

export function withBody(kind: LedgerKind, change: (body: LedgerRow['body']) => object): (row: LedgerRow) => LedgerRow {
  return (row) => (row.kind === kind ? { ...row, body: change(row.body) as LedgerRow['body'] } : row);
}

/** `type` of the failure that a promise rejects with, thrown by an activity directly or through its interceptor. */
export async function failureType(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'none';
  } catch (error) {
    return error instanceof CountersignFailure || error instanceof ApplicationFailure
      ? (error.type ?? 'none')
      : String(error);
  }
}
