import { HISTORY_DAMAGED } from '../../../policy/contracts/ledger';
import type { TargetEffects } from '../../../policy/contracts/target-effects';
import { eventually } from '../../support/eventually';
import { memoryWithChangeLock } from '../../support/memory-ledger';
import { failureType } from '../../support/review/failure-type';
import { rechained, withBody } from '../../support/review/ledger-rows';
import { ReviewWorld, START, type WorldOptions } from '../../support/review/review-world';
import { verifyWithRegistry } from '../../../signing/registry-verify';
import type { CommitDeps } from '../../../activities/committer/commit-deps';
import { createCommitActivities } from '../../../activities/committer/create-commit-activities';
import { settledOf } from '../../../activities/committer/settlement';
import { inActivity } from '../../../dev/activity-context';
import type { Submission } from '../../../policy/contracts/diff';
import { RollbackReason } from '../../../policy/contracts/outcome';
import { misconfigured } from '../../../policy/contracts/failure';
import { changeId as changeIdOf } from '../../../policy/contracts/change-id';

const confirmed = (options?: WorldOptions): Promise<ReviewWorld> => new ReviewWorld(options).confirmed();
const OTHER = 'f'.repeat(64);

async function receipt(world: ReviewWorld): Promise<Record<string, unknown>> {
  const settled = settledOf(await world.rows());
  if (settled === null) throw new Error('no receipt');
  const { find } = await world.registry.snapshot();
  const verified = verifyWithRegistry(settled.receipt, 'receipt', {
    keys: find,
    keyKind: 'committer',
    development: false,
    use: null,
  });
  if (!verified.ok) throw new Error(verified.message);
  return verified.predicate;
}

/** A commit whose worker dies after the effect, before the receipt. */
async function dieBeforeReceipt(world: ReviewWorld): Promise<void> {
  const sign = (): never => {
    throw new Error('killed');
  };
  await expect(world.commit({}, { receipts: { ...world.deps.receipts, sign } })).rejects.toThrow('killed');
}

/** Tools that commit to the target of the world in another way. */
function committing(world: ReviewWorld, commit: TargetEffects['commit']): CommitDeps['tools'] {
  const { tool, effects } = world.target;
  return { get: () => ({ ...tool, staging: async () => ({ ...effects, commit }) }) as never, keys: () => [] };
}

/** A registry that acts the first time that it is read: the commit has read the rows at this point. */
function whileVerifying({ deps: { keys } }: ReviewWorld, act: () => Promise<unknown>): CommitDeps['keys'] {
  let first = true;
  const snapshot = async (): ReturnType<typeof keys.snapshot> => {
    if (first) {
      first = false;
      await act();
    }
    return keys.snapshot();
  };
  return { ...keys, snapshot };
}

describe('every change ends exactly once', () => {
  test('the intent has the time of the verification, so that evidence of a commit at the end of its window verifies', async () => {
    const world = await confirmed();
    world.pass(15);
    let readings = 0;
    const now = (): Date => new Date(world.now.getTime() + ++readings * 1_000);
    expect(await world.commit({}, { now })).toMatchObject({ state: 'COMMITTED' });
    const intent = (await world.rows()).find(({ row }) => row.kind === 'intent');
    expect(intent?.row.at).toBe(world.at());
  });
  test('a confirmed change is applied once, and its receipt says what was done [T65]', async () => {
    const world = await confirmed();
    expect(await world.commit()).toMatchObject({ state: 'COMMITTED', reason: null });
    expect(world.target.applied).toBe(1);
    expect((await world.kinds()).slice(-5)).toEqual(['intent', 'effect', 'receipt', 'closed', 'head']);
    expect(await receipt(world)).toMatchObject({
      changeId: world.changeId,
      action: 'COMMIT',
      state: 'COMMITTED',
      mode: 'enforced',
      inputSha: world.inputSha,
      planHash: world.planHash,
      stagingSha: world.staged?.stagingSha,
      fingerprint: world.disclosed?.fingerprint,
      effect: { rows: 1 },
    });
  });

  test('no row of the end is written if the ledger would write others than were signed, and a later call ends the change', async () => {
    const world = await confirmed();
    const withChangeLock = memoryWithChangeLock(world.ledger, 'cs_commit'); // its rows are written by another role
    await expect(world.commit({}, { withChangeLock })).rejects.toThrow(/other rows .* than were signed/);
    expect((await world.kinds()).at(-1)).toBe('intent');
    expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
    expect(world.target.applied).toBe(1);
  });

  test('a commit that began with another dry run ends with a receipt of that one, as its intent says', async () => {
    const world = await new ReviewWorld({ text: 'plain', bundle: { validators: '\n  - pack: demo-pack' } }).reviewed();
    const { input: first, target } = world;
    target.updated = 2;
    await world.stage();
    expect(world.input.stagingSha).not.toBe(first.stagingSha);
    target.updated = 1;
    const sign = (): never => {
      throw new Error('killed');
    };
    await expect(world.commit(first, { receipts: { ...world.deps.receipts, sign } })).rejects.toThrow('killed');
    target.updated = 2;
    expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
    expect(await receipt(world)).toMatchObject({ stagingSha: first.stagingSha, effect: { rows: 1 } });
  });

  test('every later call returns that receipt and applies nothing more [T65]', async () => {
    const world = await confirmed();
    const first = await world.commit();
    world.pass(600);
    world.revoked.add(world.planHash);
    for (const again of [
      await world.commit(),
      await world.commit({ fingerprint: OTHER }),
      await world.rollback(),
      await world.reconcile(),
    ])
      expect(again).toEqual(first);
    expect(world.target.applied).toBe(1);
  });

  test('two concurrent commits apply the change once and issue one receipt [T65]', async () => {
    const world = await confirmed();
    const [a, b] = await Promise.all([world.commit(), world.commit()]);
    expect(a).toEqual(b);
    expect(world.target.applied).toBe(1);
    expect((await world.kinds()).filter((kind) => kind === 'receipt')).toHaveLength(1);
  });

  test('nothing commits after a rollback, even with all answers [T65]', async () => {
    const world = await confirmed();
    world.revoked.add(world.planHash);
    const rolledBack = await world.rollback({ reason: 'policy_moved' });
    expect(rolledBack).toMatchObject({ state: 'ROLLED_BACK', reason: 'policy_moved' });
    world.revoked.clear();
    expect(await world.commit()).toEqual(rolledBack);
    expect(world.target.applied).toBe(0);
  });

  test('a rollback that has begun wins over a later commit', async () => {
    const world = await confirmed();
    await world.ledger.append(world.changeId, [
      {
        kind: 'decided',
        at: world.at(),

        factKey: 'settlement',
        body: { reason: 'declined', explanation: 'no' },
      },
    ]);
    expect(await world.commit()).toMatchObject({ state: 'ROLLED_BACK', reason: 'declined', explanation: 'no' });
    expect(world.target.applied).toBe(0);
  });

  test('an unknown reason in the ledger does not keep the change open', async () => {
    const world = await confirmed();
    await world.ledger.append(world.changeId, [
      { kind: 'decided', at: world.at(), factKey: 'settlement', body: { reason: 'tired' } },
    ]);
    expect(await world.rollback()).toMatchObject({ state: 'ROLLED_BACK', reason: 'commit_failed' });
  });

  test('a receipt that cannot be read still ends the change: no second one is written', async () => {
    const world = await confirmed();
    await world.commit();
    const rows = rechained(
      await world.rows(),
      withBody('receipt', () => ({ envelope: null })),
    );
    expect(() => settledOf(rows)).toThrow(/only an operator/);
  });

  test('nothing is begun or applied while the ledger is unavailable [P8]', async () => {
    const world = await confirmed();
    let calls = 0;
    const ledger = {
      ...world.deps.ledger,
      read: () => (calls++, world.ledger.read(world.changeId)),
      append: () => Promise.reject(new Error('away')),
      spentNonces: (id: string) => world.ledger.spentNonces(id),
    };
    await expect(world.commit({}, { ledger: ledger as never })).rejects.toThrow('away');
    expect([calls > 0, world.target.applied]).toEqual([true, 0]);
  });
});

describe('the answer of the target', () => {
  test('stale: the base has moved, so nothing is applied, now or later [T61]', async () => {
    const world = await confirmed();
    world.target.updated = 2;
    expect(await world.commit()).toMatchObject({ state: 'ROLLED_BACK', reason: 'stale_base' });
    expect([world.target.applied, world.target.markers.get(world.changeId)]).toEqual([0, 'sealed']);
  });

  test('unknown: only that is reported until the marker is read [T66]', async () => {
    const world = await confirmed();
    world.target.loses = true;
    expect(await world.commit()).toMatchObject({ state: 'EFFECT_UNKNOWN' });
    expect(await world.kinds()).not.toContain('receipt');
    expect(await world.reconcile()).toMatchObject({ state: 'COMMITTED' });
    expect(await receipt(world)).toMatchObject({ effect: { rows: 1 } });
  });

  test('the next attempt finds the effect after a worker died between effect and receipt [T65, T66]', async () => {
    const world = await confirmed();
    await dieBeforeReceipt(world);
    expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
    expect(world.target.applied).toBe(1);
  });

  test('an effect whose receipt was lost ends as committed, even if the next attempt is refused or the review rolls back', async () => {
    for (const next of ['commit', 'rollback'] as const) {
      const world = await confirmed();
      await dieBeforeReceipt(world);
      world.pass(600);
      if (next === 'commit') expect(await world.commit()).toMatchObject({ state: 'REFUSED' });
      expect(await world.rollback({ reason: 'commit_refused' })).toMatchObject({ state: 'COMMITTED', reason: null });
      expect(world.target.applied).toBe(1);
    }
  });

  test('a commit that did not reach its effect is sealed, so that a delayed attempt cannot apply it later', async () => {
    const world = await confirmed();
    const zombie: (() => void)[] = [];
    world.target.before = () => new Promise((wake) => zombie.push(wake));
    const late = world.commit();
    await eventually('the attempt that will end late is under way', () => zombie.length === 1);
    expect(await world.rollback({ reason: 'commit_failed' })).toMatchObject({
      state: 'ROLLED_BACK',
      reason: 'commit_failed',
    });
    zombie[0]?.();
    expect(await late).toMatchObject({ state: 'ROLLED_BACK', reason: 'commit_failed' });
    expect(world.target.applied).toBe(0);
  });

  describe('the effect is still determined', () => {
    const targets = `
  shop: { sourceTools: [SQLDryRun, Refund], cooperative: [Refund], staging: { timeoutMs: 500 } }`;
    const unreported = async (): Promise<ReviewWorld> => {
      const world = await confirmed({ bundle: { targets } });
      world.target.loses = true;
      await world.commit();
      return world;
    };
    test("with the plan's settings, if the plan was revoked after the commit began", async () => {
      const world = await unreported();
      world.revoked.add(world.planHash);
      expect(await world.reconcile()).toMatchObject({ state: 'COMMITTED', explanation: 'Committed' });
      expect(world.target.settings).toEqual([{ timeoutMs: 500 }]);
    });
    test('with default settings, if the plan can no longer be compiled in this committer', async () => {
      const world = await unreported();
      const plans = { ...world.plans, byHash: () => Promise.reject(misconfigured('staging: not valid')) };
      const { reconcile } = createCommitActivities({ ...world.deps, plans });
      expect(await inActivity(() => reconcile(world.input))).toMatchObject({ state: 'COMMITTED' });
      expect(world.target.settings).toEqual([{}]);
    });
  });

  test('a change with a revoked plan can be rolled back', async () => {
    const world = await confirmed();
    world.revoked.add(world.planHash);
    expect(await world.commit()).toMatchObject({ state: 'REFUSED', reason: 'policy_moved' });
    expect(await world.reconcile()).toMatchObject({ state: 'ROLLED_BACK' });
  });
});

describe('a reject that is recorded while the commit verifies', () => {
  const race = async (options?: WorldOptions): Promise<ReviewWorld> => {
    const world = await confirmed(options);
    const keys = whileVerifying(world, () => world.answer(world.keys.bob, { decision: 'reject' }));
    expect(await world.commit({}, { keys })).toMatchObject({
      state: 'REFUSED',
      explanation: expect.stringContaining('standing_reject'),
    });
    return world;
  };
  test('counts: nothing is applied, and the review rolls back', async () => {
    const world = await race();
    expect(await world.rollback({ reason: 'commit_refused' })).toMatchObject({ state: 'ROLLED_BACK' });
    expect([world.target.applied, world.target.markers.get(world.changeId)]).toEqual([0, undefined]);
    expect(await world.kinds()).not.toContain('intent');
  });
  test('counts in cooperative mode: no receipt that allows the effect is issued', async () => {
    const world = await race({ sourceTool: 'Refund' });
    expect(await world.rollback({ reason: 'commit_refused' })).toMatchObject({ state: 'ROLLED_BACK' });
    expect(await receipt(world)).toMatchObject({ action: 'ROLLBACK', mode: 'cooperative' });
  });
});

describe('a withdrawn change', () => {
  test('is not committed, even with all answers, and its commit is refused as withdrawn [T65]', async () => {
    const world = await confirmed();
    await world.withdraw(world.keys.service);
    expect(await world.commit()).toMatchObject({
      state: 'REFUSED',
      reason: 'withdrawn',
      explanation: expect.stringContaining('Withdrawn by'),
    });
    expect([world.target.applied, (await world.kinds()).includes('intent')]).toEqual([0, false]);
  });

  test('is not committed if the withdrawal is recorded while the commit verifies', async () => {
    const world = await confirmed();
    const keys = whileVerifying(world, async () =>
      expect((await world.withdraw(world.keys.bob)).result.code).toBe('accepted'),
    );
    expect(await world.commit({}, { keys })).toMatchObject({ state: 'REFUSED', reason: 'withdrawn' });
    expect([world.target.applied, (await world.kinds()).includes('intent')]).toEqual([0, false]);
  });

  describe('whose withdrawal has a key that was revoked before its row', () => {
    const withdrawn = async (world: ReviewWorld): Promise<ReviewWorld> => {
      world.pass(1);
      expect((await world.withdraw(world.keys.bob)).result.code).toBe('accepted');
      world.reregister(world.keys.bob, { revokedAt: START });
      return world;
    };

    test('is not committed, even with all answers', async () => {
      const world = await withdrawn(await confirmed());
      expect(await world.commit()).toMatchObject({ state: 'REFUSED', reason: 'withdrawn' });
      expect(world.target.applied).toBe(0);
    });

    test('is not rolled back as withdrawn, and expires', async () => {
      const world = await withdrawn(await new ReviewWorld().reviewed());
      for (const reason of ['withdrawn', 'superseded', 'declined'] as const)
        expect(await failureType(world.rollback({ reason }))).toBe('VALIDATION_ERROR');
      world.pass(24 * 60);
      expect(await world.rollback({ reason: 'withdrawn' })).toMatchObject({ state: 'ROLLED_BACK', reason: 'expired' });
    });
  });

  test('cannot be withdrawn after the commit has begun', async () => {
    const world = await confirmed();
    expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
    expect(await world.withdraw(world.keys.service)).toMatchObject({ result: { code: 'too_late' }, stopped: null });
  });
});

describe('an answer that arrives while the commit verifies', () => {
  test('is verified as well; after ten such rounds the commit is retried, and nothing is applied', async () => {
    const world = await confirmed();
    const { ledger } = world.deps;
    let n = 0;
    const flooded = {
      ...ledger,
      read: async (changeId: string) => {
        const rows = await ledger.read(changeId);
        await ledger.append(changeId, [
          { kind: 'attested', at: new Date().toISOString(), factKey: `flood ${++n}`, body: { envelope: null } },
        ]);
        return rows.filter(({ row }) => row.kind !== 'attested' || row.body['envelope'] !== null);
      },
    };
    await expect(world.commit({}, { ledger: flooded })).rejects.toThrow('during each of 10 verifications');
    expect([world.target.applied, n]).toEqual([0, 10]);
  });
});

describe('cooperative mode', () => {
  test('the receipt is the only effect, and says so', async () => {
    const world = await confirmed({ sourceTool: 'Refund' });
    expect(await world.commit()).toMatchObject({ state: 'COMMITTED', mode: 'cooperative' });
    expect(await receipt(world)).toMatchObject({ action: 'COMMIT', mode: 'cooperative', effect: null });
  });
  test('an intent without a receipt ends in rollback, since the requester applies nothing without one', async () => {
    const world = await confirmed({ sourceTool: 'Refund' });
    await dieBeforeReceipt(world);
    const ended = await world.reconcile();
    expect(ended).toMatchObject({ state: 'ROLLED_BACK', reason: 'commit_failed' });
    expect(await world.commit()).toEqual(ended);
  });
});

describe('post validators, inside the commit', () => {
  test('a result that was disclosed and confirmed passes', async () => {
    const world = new ReviewWorld({ text: 'HOLD' });
    world.target.updated = 7;
    await world.confirmed();
    expect(world.disclosed?.violations.map((v) => v.validatorId)).toContain('guardian.demo_post');
    expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
  });
  test('any other result that is not ALLOW rolls back with its reason', async () => {
    const world = await confirmed();
    // The adapter compares the same record, but the validators see another one: a side effect that the comparison misses.
    const tools = committing(world, async (ctx) => {
      const [table] = ctx.approved.tables;
      const post = await ctx.postCheck?.({
        ...ctx.approved,
        tables: [{ ...(table as NonNullable<typeof table>), updated: 9 }],
      });
      return post?.ok === false
        ? ({ kind: 'post_failed', explanation: post.explanation } as const)
        : ({ kind: 'applied', effect: {}, replayed: false } as const);
    });
    expect(await world.commit({}, { tools })).toMatchObject({
      state: 'ROLLED_BACK',
      reason: 'post_failed',
      explanation: expect.stringContaining('over 9 rows'),
    });
  });
});

describe('a change that was not rehearsed', () => {
  const NO_MASS_UPDATE = `
  - pack: demo-pack
  - judge: {model: m}
  - condition: { name: no_mass_update, reason: Too many rows., when: 'staging.tables.exists(t, t.updated > 3)', staged: true, level: forbid }`;
  async function unseen(options: WorldOptions): Promise<ReviewWorld> {
    const world = new ReviewWorld({ text: 'clean', ...options });
    world.target.rehearses = false;
    await world.confirmed();
    expect(world.disclosed?.violations.map((v) => [v.validatorId, v.need])).toEqual([
      ['guardian.base_unverifiable', 'human'],
    ]);
    return world;
  }

  test('is committed after a person has confirmed that nothing shows its effect', async () => {
    const world = await unseen({ metadata: { affected_rows: 5 } });
    world.target.updated = 5;
    expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
  });
  test('is rolled back if its effect is forbidden', async () => {
    const world = await unseen({ bundle: { validators: NO_MASS_UPDATE } });
    world.target.updated = 4;
    expect(await world.commit()).toMatchObject({
      state: 'ROLLED_BACK',
      reason: 'post_failed',
      explanation: expect.stringContaining('no_mass_update'),
    });
  });
  test('is rolled back if its effect contradicts the claim that the person saw', async () => {
    const world = await unseen({ metadata: { affected_rows: 1 } });
    world.target.updated = 5;
    expect(await world.commit()).toMatchObject({
      state: 'ROLLED_BACK',
      reason: 'post_failed',
      explanation: expect.stringContaining('claims 1 row,'),
    });
  });
});

describe('post validators of an effect whose commit did not report', () => {
  const unreported = async (options?: WorldOptions): Promise<ReviewWorld> => {
    const world = await confirmed(options);
    world.target.late = true;
    world.target.loses = true;
    expect(await world.commit()).toMatchObject({ state: 'EFFECT_UNKNOWN' });
    return world;
  };
  test.each(['reconcile', 'rollback'] as const)(
    'run if %s finds the effect, and an effect that they refuse is reverted',
    async (asked) => {
      const world = await unreported();
      world.target.updated = 9;
      expect(await world[asked]()).toMatchObject({
        state: 'COMPENSATED',
        reason: 'post_failed',
        explanation: expect.stringContaining('over 9 rows'),
      });
      expect(world.target.applied).toBe(0);
    },
  );
  test('commit an effect that they allow, without a note in the explanation', async () => {
    const world = await unreported();
    expect(await world.reconcile()).toMatchObject({ state: 'COMMITTED', explanation: 'Committed' });
    expect(await receipt(world)).toMatchObject({ effect: { rows: 1 } });
  });
  test('are reported as not run in the receipt if they can no longer run', async () => {
    const world = await unreported();
    world.target.updated = 9;
    world.pass(600);
    expect(await world.reconcile()).toMatchObject({
      state: 'COMMITTED',
      explanation: expect.stringMatching(/post validators did not run, .*commit_window/),
    });
    expect(await receipt(world)).toMatchObject({ effect: { rows: 1, postValidators: 'not_run' } });
    expect(await world.sends.beginUndo('a late attempt')).toBe(false);
  });
  test('are reported as not run if another client changes the effect between the seal that found it and their turn', async () => {
    const world = await unreported();
    const changed = committing(world, async () => ({ kind: 'unknown', explanation: 'in neither state' }));
    const { reconcile } = createCommitActivities({ ...world.deps, tools: changed });
    expect(await inActivity(() => reconcile(world.input))).toMatchObject({
      state: 'COMMITTED',
      explanation: expect.stringMatching(/post validators did not run, .*in neither state/),
    });
    expect(await receipt(world)).toMatchObject({ effect: { rows: 1, postValidators: 'not_run' } });
  });
  test('leave the effect unknown if they can no longer run and another attempt has begun to undo it', async () => {
    const world = await unreported();
    world.pass(600);
    await world.sends.beginUndo('guardian.x: no');
    expect(await world.reconcile()).toMatchObject({
      state: 'EFFECT_UNKNOWN',
      explanation: expect.stringContaining('guardian.x: no'),
    });
    expect(await world.kinds()).not.toContain('receipt');
  });
  test('are not mentioned if the plan has none', async () => {
    const world = await unreported({ bundle: { validators: '\n  - rule: demo_hold' } });
    world.pass(600);
    expect(await world.reconcile()).toMatchObject({ state: 'COMMITTED', explanation: 'Committed' });
  });
  test('run if an attempt that found a moved base learns from its seal that another one applied the change', async () => {
    const world = await unreported();
    world.target.updated = 9;
    let first = true;
    const tools = committing(world, async (ctx) => {
      if (!first) return world.target.effects.commit(ctx);
      first = false;
      return { kind: 'stale', explanation: 'the base has moved' } as const;
    });
    expect(await world.commit({}, { tools })).toMatchObject({ state: 'COMPENSATED', reason: 'post_failed' });
  });
});

describe('a refused commit', () => {
  test('does not close the review: its workflow rolls back', async () => {
    const world = await new ReviewWorld().reviewed();
    expect(await world.commit()).toMatchObject({
      state: 'REFUSED',
      reason: 'commit_refused',
      explanation: expect.stringMatching(/^decision: /),
    });
    expect((await world.kinds()).at(-1)).toBe('refused');
    await world.answer(world.keys.ada);
    expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
  });
  test('is recorded once for each check, regardless of retries [P8]', async () => {
    const world = await new ReviewWorld().reviewed();
    for (let i = 0; i < 5; i++) await world.commit();
    await world.commit({ planHash: OTHER });
    expect((await world.kinds()).filter((kind) => kind === 'refused')).toHaveLength(2);
  });
  test('of an invented change writes no row', async () => {
    const world = new ReviewWorld();
    expect(await world.commit({ changeId: OTHER })).toMatchObject({
      state: 'REFUSED',
      explanation: expect.stringMatching(/^chain: /),
    });
    expect(world.ledger.all).toHaveLength(0);
  });
  test.each<readonly [string, object]>([
    ['an invalid change id', { changeId: 'x' }],
    ['an object as hash', { planHash: {} }],
    ['undefined instead of null', { stagingSha: undefined }],
    ['a boolean as fingerprint', { fingerprint: true }],
  ])('is returned for input with %s', async (_what, input) => {
    const world = await confirmed();
    expect(await world.commit(input)).toMatchObject({
      state: 'REFUSED',
      explanation: expect.stringMatching(/^input: /),
    });
    expect([world.target.applied, (await world.kinds()).includes('refused')]).toEqual([0, false]);
  });
});

describe('rollback, which any caller may request', () => {
  test('requires the submission of the change', async () => {
    const world = await confirmed();
    expect(await failureType(world.rollback({ submission: { ...world.submission, requestKey: 'other' } }))).toBe(
      'DIGEST_MISMATCH',
    );
    expect(await failureType(world.rollback({ reason: 'tired' as never }))).toBe('VALIDATION_ERROR');
    expect(await world.kinds()).not.toContain('decided');
    expect(await failureType(world.rollback({ submission: undefined as never }))).toBe('VALIDATION_ERROR');
  });

  test('signs nothing for a change that was never opened, and writes no row', async () => {
    const world = new ReviewWorld();
    for (const reason of RollbackReason.options)
      expect(await failureType(world.rollback({ reason, explanation: 'alice declined it' }))).toBe('VALIDATION_ERROR');
    expect(world.ledger.all).toHaveLength(0);
    expect(await world.ledger.review(world.changeId)).toBeNull();
  });

  test.each(RollbackReason.options.filter((reason) => reason !== 'withdrawn' && reason !== 'superseded'))(
    'leaves a review open that waits for answers, and records the refusal, if the reason %s is not supported',
    async (reason) => {
      const world = await new ReviewWorld().reviewed();
      await world.commit();
      const failure = await world
        .rollback({ reason, explanation: 'alice declined it' })
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ type: 'VALIDATION_ERROR', nonRetryable: false });
      const rows = await world.rows();
      expect(rows.some(({ row }) => row.kind === 'decided' || row.kind === 'receipt')).toBe(false);
      expect(rows.at(-1)?.row).toMatchObject({ kind: 'refused', body: { check: 'rollback', reason } });
      await world.answer(world.keys.ada);
      expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
    },
  );

  test('leaves a review open whose history does not replay: the row of that supports no end', async () => {
    const world = await new ReviewWorld().reviewed();
    const body = { check: HISTORY_DAMAGED, explanation: 'Nondeterminism error', runId: 'r' };
    const row = { kind: 'refused', at: '2026-03-01T10:00:00.000Z', factKey: 'history_damaged:r', body } as const;
    await world.ledger.append(world.changeId, [row]);
    for (const reason of ['commit_refused', 'commit_failed', 'workflow_lost'] as const)
      expect(await failureType(world.rollback({ reason }))).toBe('VALIDATION_ERROR');
    expect(await world.kinds()).not.toContain('receipt');
    // Nor is it a commit that was refused, for a change that no commit was tried for.
    await world.answer(world.keys.bob, { decision: 'reject', reason: 'wrong price' });
    expect(await world.rollback({ reason: 'commit_refused' })).toMatchObject({ reason: 'declined' });
  });

  test('leaves a review open that waits for answers if someone schedules reconcile', async () => {
    const world = await new ReviewWorld().reviewed();
    expect(await failureType(world.reconcile())).toBe('VALIDATION_ERROR');
    expect(await world.kinds()).not.toContain('receipt');
  });

  test('leaves a review open that has not yet all its findings', async () => {
    for (const reason of ['contract_violation', 'forbidden', 'commit_refused', 'commit_failed'] as const) {
      const world = new ReviewWorld();
      await world.open();
      await world.commit();
      expect(await failureType(world.rollback({ reason }))).toBe('VALIDATION_ERROR');
      expect(await world.kinds()).not.toContain('receipt');
    }
  });

  test('says what the rows say, never what the caller says', async () => {
    const world = await new ReviewWorld().reviewed();
    await world.answer(world.keys.bob, { decision: 'reject', reason: 'wrong price' });
    const ended = await world.rollback({ reason: 'declined', explanation: 'alice declined it' });
    expect(ended).toMatchObject({
      reason: 'declined',
      explanation: expect.stringContaining('declined by bob: wrong price'),
    });
    expect(ended.explanation).not.toContain('alice');
  });

  test('uses the strongest reason that the rows support if they do not support the one that was asked for', async () => {
    const world = await new ReviewWorld().reviewed();
    await world.answer(world.keys.bob, { decision: 'reject' });
    expect(await world.rollback({ reason: 'expired' })).toMatchObject({ reason: 'declined' });
  });

  test.each(['forbidden', 'expired', 'withdrawn', 'commit_failed'] as const)(
    'as forbidden needs a finding that the committer computes as well, also if the reason %s is asked for',
    async (reason) => {
      const world = new ReviewWorld({ text: 'clean' });
      await world.openUnguarded();
      const { validators } = world.plan;
      const forbid = validators.find(({ id }) => id === 'safety.demo_forbid');
      const forged = {
        validator_id: 'safety.demo_forbid',
        status: 'BLOCK',
        reason: 'says FORBID',
        evidenceRefs: [`review:${world.changeId}`],
        class: 'SAFETY',
        detectedAt: 'preflight',
        logic_hash: forbid?.logic_hash ?? '',
      };
      await world.ledger.append(world.changeId, [
        { kind: 'findings', at: world.at(), factKey: 'findings:forged', body: { findings: [forged] } },
      ]);
      expect(await failureType(world.rollback({ reason }))).toBe('VALIDATION_ERROR');
      expect(await world.kinds()).not.toContain('receipt');
    },
  );

  test('as expired needs a deadline that has passed by the clock of the committer', async () => {
    const world = await new ReviewWorld().reviewed();
    world.pass(24 * 60 - 1);
    expect(await failureType(world.rollback({ reason: 'expired' }))).toBe('VALIDATION_ERROR');
    world.pass(2);
    expect(await world.rollback({ reason: 'expired' })).toMatchObject({ state: 'ROLLED_BACK', reason: 'expired' });
  });

  test('as commit_refused needs a refusal that waiting cannot end', async () => {
    const world = await confirmed();
    world.reregister(world.keys.ada, { revokedAt: world.at() });
    expect(await world.commit()).toMatchObject({ state: 'REFUSED' });
    expect(await world.rollback({ reason: 'commit_refused' })).toMatchObject({
      state: 'ROLLED_BACK',
      reason: 'commit_refused',
      explanation: expect.stringMatching(/^decision: /),
    });
  });

  test('takes every fact of an opened change from the ledger', async () => {
    const world = await confirmed();
    world.revoked.add(world.planHash);
    await world.rollback({ reason: 'policy_moved' });
    expect(await receipt(world)).toMatchObject({
      inputSha: world.inputSha,
      planHash: world.planHash,
      stagingSha: world.staged?.stagingSha,
      fingerprint: world.disclosed?.fingerprint,
      mode: 'enforced',
    });
  });

  test('refuses an invalid submission', async () => {
    const world = new ReviewWorld();
    const submission = { ...world.submission, tenant: 'not a name!' } as Submission;
    const changeId = changeIdOf(submission);
    expect(await failureType(world.rollback({ submission, changeId }))).toBe('VALIDATION_ERROR');
  });
});

test('reconcile fails with VALIDATION_ERROR for an unknown change', async () => {
  const world = new ReviewWorld();
  expect(await failureType(world.reconcile())).toBe('VALIDATION_ERROR');
});

test('refuses a commit after the commit window has expired, even if it is scheduled manually', async () => {
  const world = await confirmed();
  world.now = new Date(Date.parse(START) + 30 * 24 * 3_600_000);
  expect(await world.commit()).toMatchObject({
    state: 'REFUSED',
    explanation: expect.stringMatching(/^commit_window: /),
  });
});

test('an exception at any step of a commit applies nothing, or the effect gets its receipt in the end [T69]', async () => {
  const steps = [
    'store.get',
    'plans.byHash',
    'keys.snapshot',
    'stagingRecords.get',
    'ledger.read',
    'ledger.append',
    'ledger.spentNonces',
    'receipts.sign',
    'validators.get',
    'tools.get',
  ] as const;
  for (const step of steps) {
    const world = await confirmed();
    const [part, method] = step.split('.') as ['store', 'get'];
    const broken = {
      ...(world.deps[part] as object),
      [method]: () => {
        throw new Error(`broken ${step}`);
      },
    };
    const activities = createCommitActivities({ ...world.deps, [part]: broken } as never);
    await inActivity(() => activities.commit(world.input)).then(
      (result) => expect([step, result.state]).toEqual([step, 'never']),
      (error: unknown) => expect(String(error)).toContain('broken'),
    );
    expect([step, world.target.applied]).toEqual([step, step === 'receipts.sign' ? 1 : 0]);
    expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
    expect([step, world.target.applied]).toEqual([step, 1]);
  }
});
