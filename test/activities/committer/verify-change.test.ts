import { policyMoved } from '../../../policy/contracts/failure';
import { verifyChange, type Verification } from '../../../activities/committer/verify-change';
import { givenToJudge } from '../../../policy/evidence/attested-given';
import type { CommitInput } from '../../../activities/review-types';
import { attestedInputDigest } from '../../../policy/contracts/attested';
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import type { ValidatorFinding } from '../../../policy/contracts/finding';
import { planHash as planHashOf, type Plan } from '../../../policy/contracts/plan';
import { errorResult } from '../../../policy/decide/findings';
import { JUDGE_ID } from '../../../policy/judge/config';
import { HOLD_ID } from '../../support/review/demo-rules';
import { rechained, withBody } from '../../support/review/ledger-rows';
import { allow } from '../../support/review/review-steps';
import { ReviewWorld, START, type WorldOptions } from '../../support/review/review-world';

const OTHER = 'f'.repeat(64);
const NO_JUDGE = '\n  - pack: demo-pack';

async function verify(
  world: ReviewWorld,
  input: Partial<CommitInput> = {},
  rows?: Parameters<typeof verifyChange>[2],
): Promise<Verification> {
  return verifyChange(world.deps, { ...world.input, ...input }, rows ?? (await world.rows()));
}
/** Changes members of the submission in the ledger. */
const inSubmission = (more: object): Parameters<typeof rechained>[1] =>
  withBody('submitted', (body) => ({ ...body, submission: { ...(body['submission'] as object), ...more } }));
const checkOf = (v: Verification): string => (v.ok ? 'ok' : v.check);
const explain = (v: Verification): string => (v.ok ? 'ok' : v.explanation);
const confirmed = (options?: WorldOptions): Promise<ReviewWorld> => new ReviewWorld(options).confirmed();
/** The check that refuses a confirmed review after its ledger rows were changed and the chain was recomputed. */
async function tampered(change: Parameters<typeof rechained>[1], options?: WorldOptions): Promise<string> {
  const world = await confirmed(options);
  return checkOf(await verify(world, {}, rechained(await world.rows(), change)));
}

describe('an unmodified review', () => {
  test('verifies if every violation was confirmed', async () => {
    const world = await confirmed({ text: 'HOLD OTHER' });
    const verified = await verify(world);
    expect(verified).toMatchObject({
      ok: true,
      planHash: world.planHash,
      inputSha: world.inputSha,
      fingerprint: world.disclosed?.fingerprint,
    });
    expect(verified.ok && verified.violations.map((v) => v.validatorId)).toEqual([
      'guardian.demo_hold',
      'guardian.demo_other',
    ]);
  });
  test('verifies if nothing fired and no answer was needed', async () => {
    const world = await confirmed({ text: 'clean' });
    expect(await verify(world)).toMatchObject({ ok: true, violations: [], fingerprint: null });
  });
  test('verifies if a rule only advises [T41]', async () =>
    expect(checkOf(await verify(await confirmed({ text: 'ADVICE' })))).toBe('ok'));
  test('verifies in cooperative mode', async () =>
    expect(checkOf(await verify(await confirmed({ sourceTool: 'Refund' })))).toBe('ok'));
});

describe('the ledger', () => {
  test('submission: missing or unreadable', async () => {
    expect(checkOf(await verify(new ReviewWorld()))).toBe('chain');
    expect(await tampered(withBody('submitted', () => ({})))).toBe('submission');
    expect(await tampered((row) => (row.kind === 'submitted' ? null : row))).toBe('submission');
    expect(await tampered(inSubmission({ plan: {} }))).toBe('submission');
  });
  test('chain: the rows of another change', async () => {
    const [world, other] = await Promise.all([confirmed(), confirmed({ requestKey: 'again' })]);
    expect(checkOf(await verify(world, {}, await other.rows()))).toBe('chain');
  });
});

describe('the plan', () => {
  test('plan: another one than was pinned at the start [T68, G40]', async () => {
    const world = await confirmed();
    expect(checkOf(await verify(world, { planHash: OTHER }))).toBe('plan');
    expect(await tampered((row) => (row.kind === 'planned' ? null : row))).toBe('plan');
    expect(await tampered(withBody('planned', () => ({ planHash: OTHER })))).toBe('plan');
  });
  test('policy: a revoked plan, which ends the review as policy_moved [T68]', async () => {
    const world = await confirmed();
    world.revoked.add(world.planHash);
    expect(await verify(world)).toMatchObject({ check: 'policy', reason: 'policy_moved' });
  });
  test('recomputed: a validator that this process has with other logic, or not at all [G33, T68]', async () => {
    const world = await confirmed();
    for (const get of [
      () => undefined,
      (key: string) => ({ ...world.validators.get(key), logicRevision: 2 }) as never,
    ]) {
      const validators = { ...world.validators, get };
      expect(await verifyChange({ ...world.deps, validators }, world.input, await world.rows())).toMatchObject({
        check: 'recomputed',
        reason: 'policy_moved',
      });
    }
  });
  /** The review pinned `plan`, and a trusted operator signed it, regardless of its content. */
  const pinning = async (world: ReviewWorld, plan: Plan): Promise<Verification> => {
    const planHash = planHashOf(plan);
    const plans = { ...world.plans, byHash: async () => ({ plan, planHash, revision: 1 }) };
    const rows = rechained(
      await world.rows(),
      withBody('planned', (body) => ({ ...body, planHash, mode: plan.mode })),
    );
    return verifyChange({ ...world.deps, plans }, { ...world.input, planHash }, rows);
  };
  test('plan: a plan for another target or tool', async () => {
    const world = await confirmed();
    for (const other of [{ target: 'other' }, { sourceTool: 'Refund' }]) {
      const verified = await pinning(world, { ...world.plan, ...other });
      expect([checkOf(verified), explain(verified)]).toEqual(['plan', 'the plan is for another target or tool']);
    }
  });
  test('target: an enforced plan for a tool without effects, or a cooperative plan for a tool with effects', async () => {
    const [enforced, cooperative] = [await confirmed(), await confirmed({ sourceTool: 'Refund' })];
    expect(checkOf(await pinning(enforced, { ...enforced.plan, mode: 'cooperative' }))).toBe('target');
    expect(checkOf(await pinning(cooperative, { ...cooperative.plan, mode: 'enforced' }))).toBe('target');
  });
  test('target: development in the policy but not in the configuration of the committer', async () => {
    const world = await confirmed({ bundle: { targets: '\n  shop: { sourceTools: [SQLDryRun], development: true }' } });
    expect(checkOf(await verify(world))).toBe('target');
    world.development = true;
    expect(checkOf(await verify(world))).not.toBe('target');
  });
});

describe('bytes and requester', () => {
  test('throws a retryable failure if the store is unavailable, and decides nothing', async () => {
    const world = await confirmed();
    const store = { ...world.store, get: () => Promise.reject(new Error('away')) };
    await expect(verifyChange({ ...world.deps, store }, world.input, await world.rows())).rejects.toThrow('away');
  });
  test('bytes: a tool that this committer has no adapter for [F10, T14]', async () => {
    const world = await confirmed();
    const tools = { get: () => undefined, keys: () => [] };
    expect(await verifyChange({ ...world.deps, tools }, world.input, await world.rows())).toMatchObject({
      check: 'bytes',
      explanation: expect.stringContaining('ErrUnknownDiffType'),
      reason: 'commit_refused',
    });
  });

  test('requester: a service key that was revoked since', async () => {
    const world = await confirmed();
    world.reregister(world.keys.service, { revokedAt: START });
    expect(checkOf(await verify(world))).toBe('requester');
  });

  test('requester: an invalid signature, even if the row has the requester as unknown', async () => {
    const invalid = (world: ReviewWorld) => {
      const envelope = world.signSubmission(world.keys.service, { changeId: OTHER });
      return withBody('submitted', ({ submission, ...body }) => ({
        ...body,
        submission: { ...(submission as JsonObject), envelope },
        requester: null,
      }));
    };
    const world = await confirmed();
    expect(checkOf(await verify(world, {}, rechained(await world.rows(), invalid(world))))).toBe('requester');
  });

  test('requester: a signature removed from the row, with the requester left in place; and disclosure, if the requester is removed too', async () => {
    const stripped = (more: object): Promise<string> =>
      tampered(
        withBody('submitted', (body) => {
          const { envelope: _envelope, ...rest } = body['submission'] as JsonObject;
          return { ...body, submission: rest, ...more };
        }),
      );
    expect(await stripped({})).toBe('requester');
    expect(await stripped({ requester: null })).toBe('disclosure');
  });
});

describe('the dry run', () => {
  test('staging: the record of another change', async () => {
    const world = await confirmed();
    const sha = world.staged?.stagingSha ?? '';
    const record = world.stagingRecords.get(`${world.changeId}/${sha}`);
    world.stagingRecords.clear();
    if (record !== undefined) world.stagingRecords.set(`${OTHER}/${sha}`, record);
    expect(checkOf(await verify(world))).toBe('staging');
  });
  test('disclosure: another dry run than the disclosed one [T60, T61]', async () => {
    const world = await confirmed();
    world.target.updated = 2;
    const again = await world.stage();
    await world.judged({ status: 'ALLOW' });
    expect(checkOf(await verify(world, { stagingSha: again.kind === 'staged' ? again.stagingSha : null }))).toBe(
      'disclosure',
    );
  });
  test('requires a human for a dry run that the judge has not evaluated, regardless of its verdict on another one', async () => {
    const world = await new ReviewWorld({ text: 'clean' }).reviewed();
    world.target.updated = 2;
    await world.stage();
    expect(checkOf(await verify(world))).toBe('findings');
  });
});

describe('findings: the disclosed findings equal the recomputed ones', () => {
  const world = async (
    text: string,
    shown: (w: ReviewWorld) => ValidatorFinding[],
    judge: Parameters<ReviewWorld['judged']>[0] | null = { status: 'ALLOW' },
  ): Promise<string> => {
    const w = new ReviewWorld({ text });
    await w.openUnguarded();
    await w.stageAnyway();
    if (judge !== null) await w.judged(judge);
    await w.disclose(shown(w));
    for (const v of w.disclosed?.violations ?? []) await w.answer(w.keys.ada, { violationId: v.violationId });
    return checkOf(await verify(w));
  };
  const only = (ids: readonly string[]) => (w: ReviewWorld) =>
    w
      .findings()
      .map((f) =>
        ids.includes(f.validator_id) || f.status === 'ALLOW'
          ? f
          : { ...f, status: 'ALLOW' as const, reason: '', evidenceRefs: [] },
      );

  test('a derived finding that was hidden', async () =>
    expect(await world('HOLD OTHER', only(['guardian.demo_other']))).toBe('recomputed'));
  test('a SAFETY BLOCK that was hidden', async () =>
    expect(await world('HOLD FORBID', only([HOLD_ID]))).toBe('recomputed'));
  test('a judge’s BLOCK that was hidden [P7]', async () =>
    expect(await world('HOLD', (w) => w.findings(), { status: 'BLOCK' })).toBe('findings'));
  test('a judge’s WARN that was disclosed with another reason', async () => {
    const shown = (w: ReviewWorld) =>
      w.findings(
        {},
        { ...allow(JUDGE_ID), status: 'WARN', reason: 'a trifle', evidenceRefs: [`review:${w.changeId}`] },
      );
    expect(await world('HOLD', shown, { status: 'WARN', reason: 'drops the table' })).toBe('findings');
  });
  test('a judge that never ran, disclosed as ALLOW', async () =>
    expect(await world('HOLD', (w) => w.findings(), null)).toBe('findings'));
  test.each<readonly [string, Partial<ValidatorFinding>, string]>([
    ['reason', { reason: 'other' }, 'recomputed'],
    ['status', { status: 'WARN' }, 'recomputed'],
    ['class', { class: 'SAFETY' }, 'findings'],
    ['phase', { phase: 'post' }, 'findings'],
    ['logic_hash', { logic_hash: OTHER }, 'findings'],
    ['evidence', { evidenceRefs: ['review:x'] }, 'recomputed'],
  ])('a finding whose %s was changed', async (_what, change, check) => {
    expect(
      await world('HOLD OTHER', (w) => w.findings().map((f) => (f.validator_id === HOLD_ID ? { ...f, ...change } : f))),
    ).toBe(check);
  });
  test('a missing finding, an extra one, or two in another order', async () => {
    expect(await world('HOLD', (w) => w.findings().slice(0, -1))).toBe('recomputed');
    expect(await world('HOLD', (w) => [...w.findings(), ...w.findings().slice(-1)])).toBe('recomputed');
    expect(await world('HOLD OTHER', (w) => w.findings().reverse())).toBe('recomputed');
  });
  test('decision: a SAFETY BLOCK that was disclosed and confirmed by everyone', async () => {
    expect(await world('HOLD FORBID', (w) => w.findings())).toBe('decision');
  });
});

describe('the one exception: an ERROR that is not reproducible', () => {
  const soft = (w: ReviewWorld, id: string, more: object = {}) => ({
    kind: 'result' as const,
    result: {
      ...errorResult(id, w.changeId, {
        errorClass: 'ErrValidatorBackend',
        reason: 'The validator could not answer',
        reasonCode: 'validator_failed',
        reproducible: false,
      }),
      ...more,
    },
  });

  /** A disclosed and confirmed ERROR; the committer then runs the rule again on `text`. */
  const derived = async (text: string, id = HOLD_ID, more: object = {}): Promise<string> => {
    const w = new ReviewWorld({ text });
    await w.open();
    await w.stageAnyway();
    await w.judged({ status: 'ALLOW' });
    await w.disclose(w.findings({ [id]: soft(w, id, more) }));
    for (const v of w.disclosed?.violations ?? []) await w.answer(w.keys.ada, { violationId: v.violationId });
    return checkOf(await verify(w));
  };
  test('its confirmation covers ALLOW now', async () => expect(await derived('clean')).toBe('ok'));
  test('its confirmation does not cover a BLOCK now', async () => expect(await derived('HOLD')).toBe('recomputed'));
  test('its confirmation does not cover a SAFETY BLOCK now', async () =>
    expect(await derived('FORBID OTHER', 'safety.demo_forbid')).toBe('recomputed'));
  test('a confirmation of a reproducible error covers nothing else', async () => {
    expect(await derived('clean', HOLD_ID, { reproducible: true })).toBe('recomputed');
    const { reproducible: _r, ...unsaid } = soft(new ReviewWorld(), HOLD_ID).result;
    const w = new ReviewWorld({ text: 'clean' });
    await w.open();
    await w.stage();
    await w.judged({ status: 'ALLOW' });
    await w.disclose(
      w.findings({ [HOLD_ID]: { kind: 'result', result: { ...unsaid, evidenceRefs: [`review:${w.changeId}`] } } }),
    );
    await w.answer(w.keys.ada);
    expect(checkOf(await verify(w))).toBe('recomputed');
  });
  test('the failure of an advising rule is disclosed as a WARN', async () =>
    expect(await derived('HOLD', 'safety.demo_advice')).toBe('ok'));

  /** The judge did not answer (with or without a record of that) and was disclosed as `shown`; `also`: further records. */
  const judge = async (
    records: readonly Parameters<ReviewWorld['judged']>[0][],
    shown: (w: ReviewWorld) => unknown,
    change: (f: ValidatorFinding) => ValidatorFinding = (f) => f,
  ): Promise<string> => {
    const w = new ReviewWorld({ text: 'HOLD' });
    await w.open();
    await w.stage();
    for (const record of records) await w.judged(record);
    await w.disclose(w.findings({}, shown(w)).map((f) => (f.validator_id === JUDGE_ID ? change(f) : f)));
    for (const v of w.disclosed?.violations ?? []) await w.answer(w.keys.ada, { violationId: v.violationId });
    return checkOf(await verify(w));
  };
  const silent = (errorClass: 'ErrTimeout' | 'ErrValidatorBackend' | 'ErrVerdictParse' = 'ErrTimeout') => ({
    status: 'BLOCK' as const,
    errorClass,
    reproducible: false,
    reason: 'The judge could not answer',
  });
  const shownSilent = (w: ReviewWorld, errorClass?: Parameters<typeof silent>[0]) => ({
    validator_id: JUDGE_ID,
    evidenceRefs: [`review:${w.changeId}`],
    ...silent(errorClass),
  });

  test('a judge that could not answer, with a record of the failure [T28]', async () =>
    expect(await judge([silent()], (w) => shownSilent(w))).toBe('ok'));
  test('a judge that could not answer, without a record: the missing record is the same ERROR [T28]', async () => {
    expect(await judge([], (w) => shownSilent(w))).toBe('ok');
    expect(await judge([], (w) => shownSilent(w, 'ErrVerdictParse'))).toBe('ok');
  });
  test('refuses a record of another error than the disclosed one', async () =>
    expect(await judge([silent('ErrVerdictParse')], (w) => shownSilent(w))).toBe('findings'));
  test.each(['WARN', 'BLOCK'] as const)('refuses an ERROR if another record of the judge is %s', async (status) => {
    for (const records of [[silent(), { status }], [{ status }, silent()], [{ status }]])
      expect(await judge(records, (w) => shownSilent(w))).toBe('findings');
  });
  test('an additional ALLOW does not replace the ERROR', async () =>
    expect(await judge([silent(), { status: 'ALLOW' }], (w) => shownSilent(w))).toBe('ok'));

  test.each<readonly [string, Partial<ValidatorFinding>]>([
    ['an ALLOW with an error class', { status: 'ALLOW' }],
    ['SKIPPED', { status: 'SKIPPED' }],
    ['a WARN', { status: 'WARN' }],
    ['a SAFETY WARN, which needs no answer', { class: 'SAFETY', status: 'WARN' }],
    ['a SAFETY error', { class: 'SAFETY' }],
    ['of the post phase', { phase: 'post' }],
    ['of other logic', { logic_hash: OTHER }],
  ])('refuses a forged finding in place of the ERROR, %s, since the judge did not answer', async (_what, forged) => {
    expect(
      await judge(
        [],
        (w) => shownSilent(w),
        (f) => ({ ...f, ...forged }),
      ),
    ).toBe('findings');
  });

  test.each(['ALLOW', 'WARN', 'SKIPPED'] as const)(
    'an error that was shown as %s is not covered, although the judge allows now',
    async (status) => {
      const forged = (f: ValidatorFinding): ValidatorFinding => ({ ...f, status });
      expect(await judge([{ status: 'ALLOW' }], (w) => shownSilent(w), forged)).toBe('findings');
    },
  );
});

describe('of several attested records the strictest counts', () => {
  test('asking the judge again does not help', async () => {
    const world = await new ReviewWorld({ text: 'clean' }).reviewed();
    expect(checkOf(await verify(world))).toBe('ok');
    await world.judged({ status: 'WARN' });
    expect(checkOf(await verify(world))).toBe('disclosure');
  });
  test('staging again in order to ask again does not help', async () => {
    const world = new ReviewWorld({ text: 'clean' });
    await world.open();
    await world.guard();
    await world.stage();
    await world.judged({ status: 'BLOCK' });
    world.target.updated = 2;
    await world.stage();
    await world.judged({ status: 'ALLOW' });
    expect(checkOf(await verify(world))).toBe('disclosure');
  });
  test('a dry run that the judge was not asked about does not help', async () => {
    const world = new ReviewWorld({ text: 'HOLD' });
    await world.open();
    await world.stage();
    await world.judged({ status: 'BLOCK' });
    world.target.updated = 2;
    await world.stage();
    const silent = errorResult(JUDGE_ID, world.changeId, {
      errorClass: 'ErrValidatorBackend',
      reason: 'silent',
      reasonCode: 'judge_backend',
      reproducible: false,
    });
    await world.disclose(world.findings({}, silent));
    for (const v of world.disclosed?.violations ?? [])
      await world.answer(world.keys.ada, { violationId: v.violationId });
    expect(checkOf(await verify(world))).toBe('findings');
  });
  test('an open breaker that was hidden', async () => {
    const world = new ReviewWorld({
      text: 'HOLD',
      breakers: [{ validatorId: 'guardian.b', evidence: ['e'.repeat(64)] }],
    });
    await world.open();
    await world.stage();
    await world.judged({ status: 'ALLOW' });
    await world.disclose(
      world.findings({ 'guardian.circuit_open': { kind: 'result', result: allow('guardian.circuit_open') } }),
    );
    await world.answer(world.keys.ada);
    expect(checkOf(await verify(world))).toBe('findings');
  });
  test('findings: the records of the opening were removed', async () => {
    for (const text of ['HOLD', 'clean'])
      expect(await tampered((row) => (row.kind === 'attested' ? null : row), { text })).toBe('findings');
  });
});

describe('the same change, rejected under another request key', () => {
  const both = async (text: string): Promise<[ReviewWorld, ReviewWorld]> => {
    const first = await new ReviewWorld({ text }).reviewed();
    return [first, new ReviewWorld({ text, requestKey: 'again', ledger: first.ledger })];
  };
  test('before it was opened: the reject is disclosed and can be confirmed', async () => {
    const [first, second] = await both('HOLD');
    await first.answer(first.keys.ada, { decision: 'reject' });
    await second.confirmed();
    expect(second.disclosed?.violations.map((v) => v.validatorId)).toContain('guardian.previously_rejected');
    expect(checkOf(await verify(second))).toBe('ok');
  });
  test('previously_rejected: after it was opened, even if it is confirmed here', async () => {
    const [first, second] = await both('HOLD');
    await second.confirmed();
    expect(checkOf(await verify(second))).toBe('ok');
    await first.answer(first.keys.ada, { decision: 'reject' });
    expect(checkOf(await verify(second))).toBe('previously_rejected');
    expect(checkOf(await verify(first))).toBe('standing_reject');
  });
  test('previously_rejected: after it was opened, although it disclosed an earlier reject', async () => {
    const [first, second] = await both('HOLD');
    await first.answer(first.keys.ada, { decision: 'reject' });
    await second.confirmed();
    const third = await new ReviewWorld({ text: 'HOLD', requestKey: 'third', ledger: first.ledger }).reviewed();
    expect(checkOf(await verify(second))).toBe('ok');
    await third.answer(third.keys.bob, { decision: 'reject' });
    expect(checkOf(await verify(second))).toBe('previously_rejected');
  });
  test('previously_rejected: more often than the ledger lists, of which only the newest are disclosed', async () => {
    const { ledger } = new ReviewWorld();
    const rejected = async (requestKey: string): Promise<void> => {
      const world = await new ReviewWorld({ text: 'HOLD', requestKey, ledger }).reviewed();
      await world.answer(world.keys.ada, { decision: 'reject' });
    };
    for (let i = 0; i < 21; i++) await rejected(`before ${i}`);
    const last = await new ReviewWorld({ text: 'HOLD', requestKey: 'last', ledger }).confirmed();
    expect(checkOf(await verify(last))).toBe('ok');
    await rejected('after');
    expect(checkOf(await verify(last))).toBe('previously_rejected');
  });
  test('a reject of another change has no effect', async () => {
    const [first] = await both('HOLD');
    const other = await new ReviewWorld({ text: 'HOLD ', ledger: first.ledger }).confirmed();
    await first.answer(first.keys.ada, { decision: 'reject' });
    expect(checkOf(await verify(other))).toBe('ok');
  });
});

describe('judgeWhen: onlyIfClean', () => {
  const bundle = { judgeWhen: 'onlyIfClean' };
  const skipped = { kind: 'skipped', reasonCode: 'judge_when' } as const;
  const reviewed = async (text: string): Promise<ReviewWorld> => {
    const world = new ReviewWorld({ text, bundle });
    await world.open();
    await world.stage();
    return world;
  };
  test('the judge may be skipped if a rule blocks the change', async () => {
    const world = await reviewed('HOLD');
    await world.disclose(world.findings({ [JUDGE_ID]: skipped }));
    await world.answer(world.keys.ada);
    expect(checkOf(await verify(world))).toBe('ok');
  });
  test('findings: the judge was skipped but nothing blocks the change [T45]', async () => {
    const world = await reviewed('clean');
    await world.guard();
    expect(checkOf(await verify(world))).toBe('findings');
  });
  test('findings: the judge is marked as skipped but has a record', async () => {
    const world = await reviewed('HOLD');
    await world.judged({ status: 'BLOCK' });
    await world.disclose(world.findings({ [JUDGE_ID]: skipped }));
    await world.answer(world.keys.ada);
    expect(checkOf(await verify(world))).toBe('findings');
  });
});

describe('the disclosure', () => {
  test('disclosure: violations that were not disclosed', async () => {
    expect(await tampered((row) => (row.kind === 'disclosed' ? null : row))).toBe('disclosure');
  });
  test('findings: a row that cannot be read', async () => {
    expect(await tampered(withBody('disclosed', (body) => ({ ...body, findings: 'none' })))).toBe('findings');
    expect(await tampered(withBody('disclosed', (body) => ({ ...body, fingerprint: null })))).toBe('disclosure');
  });
  test('disclosure: violations that do not exist', async () => {
    const world = await new ReviewWorld({ text: 'clean' }).reviewed();
    await world.disclose(world.findings());
    expect(checkOf(await verify(world))).toBe('disclosure');
  });
});

describe('callbacks', () => {
  const bundle = {
    policies:
      '\n  - { key: auto, name: Auto, match: { validatorIds: [guardian.demo_hold] }, requiresConfirmation: false, callback: { key: ask, version: v1 } }',
  };
  const reviewed = (passed: boolean): Promise<ReviewWorld> =>
    new ReviewWorld({ bundle, callback: () => ({ passed, message: null }) }).reviewed();

  test('a callback that passed resolves its violation, with a signed record [V15]', async () =>
    expect(checkOf(await verify(await reviewed(true)))).toBe('ok'));
  test('decision: a callback that failed', async () =>
    expect(checkOf(await verify(await reviewed(false)))).toBe('decision'));
  test('disclosure: a callback whose record was removed', async () => {
    const world = await reviewed(true);
    const last = (await world.rows()).filter(({ row }) => row.kind === 'attested').at(-1)?.row.n;
    const rows = rechained(await world.rows(), (row) => (row.n === last ? null : row));
    expect(checkOf(await verify(world, {}, rows))).toBe('disclosure');
  });
  test('decision: a callback that failed first and was run again until it passed [R2]', async () => {
    let passed = false;
    const world = new ReviewWorld({ bundle, callback: () => ({ passed, message: null }) });
    await world.reviewed();
    const first = world.disclosed?.fingerprint;
    passed = true;
    await world.disclose();
    expect(world.disclosed?.fingerprint).toBe(first);
    expect(checkOf(await verify(world))).toBe('decision');
  });
  test('commit_window: a callback that passed before the commit window', async () => {
    const world = await reviewed(true);
    world.pass(14);
    expect(checkOf(await verify(world))).toBe('ok');
    world.pass(2);
    expect(checkOf(await verify(world))).toBe('commit_window');
  });
});

describe('answers, verified again with the current keys', () => {
  const answered = async (act: (w: ReviewWorld) => Promise<unknown>, options?: WorldOptions): Promise<Verification> => {
    const world = await new ReviewWorld(options).reviewed();
    await act(world);
    return verify(world);
  };
  test('decision: no answer [T46]', async () => expect(checkOf(await answered(async () => {}))).toBe('decision'));
  test('decision: one answer of two [T46]', async () =>
    expect(checkOf(await answered((w) => w.answer(w.keys.ada), { text: 'HOLD OTHER' }))).toBe('decision'));
  test('refuses an answer by an attestor', async () => {
    const verified = await answered((w) => w.answerRow(w.keys.attestor));
    expect([checkOf(verified), explain(verified)]).toEqual(['decision', expect.stringContaining('not_eligible')]);
  });
  test('nonces: an answer whose nonce was never spent [T60]', async () => {
    const verified = await answered((w) => w.answerRow(w.keys.ada));
    expect([checkOf(verified), explain(verified)]).toEqual(['nonces', expect.stringContaining('nonce_reused')]);
  });
  test('decision: an answer after its deadline [T62]', async () => {
    const verified = await answered(async (w) => {
      w.pass(24 * 60);
      await w.answer(w.keys.ada);
    });
    expect([checkOf(verified), explain(verified)]).toEqual(['decision', expect.stringContaining('expired')]);
  });
  test('decision: a key that was just revoked, although this process has a recent copy of the registry', async () => {
    const world = await confirmed();
    const before = await world.registry.snapshot();
    world.reregister(world.keys.ada, { revokedAt: START });
    const now = world.registry;
    const keys = { ...now, snapshot: async (maxAgeMs = 1_000) => (maxAgeMs > 0 ? before : await now.snapshot()) };
    expect(checkOf(await verifyChange({ ...world.deps, keys }, world.input, await world.rows()))).toBe('decision');
  });

  test('policy_moved: a plan that was just revoked, although this process has used it recently', async () => {
    const world = await confirmed();
    const { plans } = world.deps;
    const byHash: typeof plans.byHash = (planHash, revocations = 'lately') =>
      revocations === 'lately' ? plans.byHash(planHash) : Promise.reject(policyMoved('It is revoked'));
    const verified = await verifyChange(
      { ...world.deps, plans: { ...plans, byHash } },
      world.input,
      await world.rows(),
    );
    expect(verified).toMatchObject({ ok: false, reason: 'policy_moved' });
  });

  test('decision: one answer for an unknown requester under four eyes, which requires two people', async () => {
    const world = await confirmed({ signedBy: 'none' });
    expect(checkOf(await verify(world))).toBe('decision');
    await world.answer(world.keys.bob);
    expect(checkOf(await verify(world))).toBe('ok');
  });
  test('standing_reject: one reject, regardless of the confirmations', async () => {
    const world = await confirmed();
    await world.answer(world.keys.bob, { decision: 'reject' });
    expect(checkOf(await verify(world))).toBe('standing_reject');
  });
  test('standing_reject: a reject on another fingerprint, with a key revoked since, even if nothing fires now', async () => {
    for (const text of ['HOLD', 'clean']) {
      const world = await confirmed({ text });
      await world.answerRow(world.keys.bob, { decision: 'reject', fingerprint: OTHER, violationId: OTHER });
      world.reregister(world.keys.bob, { revokedAt: START });
      expect(checkOf(await verify(world))).toBe('standing_reject');
    }
  });
});

describe('commit_window', () => {
  test('is exact to the millisecond, from the last answer that counts', async () => {
    const world = await confirmed();
    world.pass(15);
    expect(checkOf(await verify(world))).toBe('ok');
    world.now = new Date(world.now.getTime() + 1);
    expect(checkOf(await verify(world))).toBe('commit_window');
  });
  test('is not extended by an answer that does not count', async () => {
    const world = await confirmed();
    world.pass(24 * 60 + 1);
    await world.answer(world.keys.bob);
    expect(checkOf(await verify(world))).toBe('commit_window');
  });
});

test('verifies a plan without a judge without a judge record', async () =>
  expect(checkOf(await verify(await confirmed({ bundle: { validators: NO_JUDGE } })))).toBe('ok'));

test('decision: more than 200 violations, even if callbacks resolve all of them and each was disclosed', async () => {
  const policies = Array.from(
    { length: 201 },
    (_, i) =>
      `\n  - { key: p${i}, name: P, match: { validatorIds: [guardian.demo_hold] }, requiresConfirmation: false, callback: { key: ask, version: v1 } }`,
  ).join('');
  const verified = await verify(await new ReviewWorld({ bundle: { policies } }).reviewed());
  expect([checkOf(verified), explain(verified)]).toEqual(['decision', expect.stringContaining('201 violations')]);
});

test('the record of the judge is bound to its input', () => {
  const of = { inputSha: 'a', stagingSha: 'b', planHash: 'c', logicHash: 'd' };
  const digest = (more: object) => attestedInputDigest('judge', givenToJudge({ ...of, ...more }));
  for (const other of [{ inputSha: 'x' }, { stagingSha: null }, { planHash: 'x' }, { logicHash: 'x' }])
    expect(digest(other)).not.toBe(digest({}));
});
