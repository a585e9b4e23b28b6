import { recordResolution } from '../../../activities/committer/effect-resolution';
import { createCommitActivities } from '../../../activities/committer/create-commit-activities';
import type { CommitReport } from '../../../activities/review-types';
import { inActivity } from '../../../dev/activity-context';
import { misconfigured } from '../../../policy/contracts/failure';
import { FailureType } from '../../../policy/contracts/failure-type';
import type { ReadBack } from '../../../policy/contracts/target-effects';
import { EFFECT_UNKNOWN } from '../../../policy/contracts/ledger';
import { ReceiptPredicate } from '../../../policy/contracts/outcome';
import { checkResolution } from '../../../signing/verify-review/receipt';
import { sourceToolRegistry } from '../../../source-tools/define';
import { testKey, type TestKey } from '../../support/keys';
import { failureType } from '../../support/review/failure-type';
import { ReviewWorld } from '../../support/review/review-world';

/** A review whose commit was sent without an answer, and whose target cannot tell whether it was applied. */
async function unknown(): Promise<ReviewWorld> {
  const world = await new ReviewWorld().confirmed();
  world.target.loses = true;
  world.target.blind = true;
  expect(await world.commit()).toMatchObject({ state: 'EFFECT_UNKNOWN' });
  expect(await world.reconcile()).toMatchObject({ state: 'EFFECT_UNKNOWN' });
  return world;
}

function say(
  world: ReviewWorld,
  applied: boolean,
  more: { readonly key?: TestKey; readonly changeId?: string; readonly target?: string } = {},
): Promise<void> {
  const { key = world.keys.operator, changeId = world.changeId, target = 'shop' } = more;
  const resolvedAt = world.now.toISOString();
  return recordResolution(world.ledger, { changeId, target, applied, reason: 'seen', resolvedAt }, key);
}

async function receiptOf(world: ReviewWorld): Promise<ReceiptPredicate> {
  const row = (await world.rows()).find((each) => each.row.kind === 'receipt');
  return ReceiptPredicate.parse(row?.row.body['predicate']);
}

const reconciled = async (world: ReviewWorld): Promise<CommitReport['state']> => (await world.reconcile()).state;

const listed = async (world: ReviewWorld) => (await world.ledger.review(world.changeId))?.state;
const untold = async (world: ReviewWorld) =>
  (await world.rows()).filter(({ row }) => row.body['check'] === EFFECT_UNKNOWN).length;

it('is listed as unknown until it is resolved, and recorded once, regardless of how often the target is asked', async () => {
  const world = await unknown();
  expect([await listed(world), await untold(world)]).toEqual(['EFFECT_UNKNOWN', 1]);
  expect(await reconciled(world)).toBe('EFFECT_UNKNOWN');
  expect([await listed(world), await untold(world)]).toEqual(['EFFECT_UNKNOWN', 1]);
  world.target.blind = false;
  expect(await reconciled(world)).toBe('COMMITTED');
  expect(await listed(world)).toBe('COMMITTED');
});

it('is listed as unknown while the target is unavailable', async () => {
  const world = await new ReviewWorld().confirmed();
  world.target.loses = true;
  world.target.blind = true;
  await world.commit();
  expect(await listed(world)).toBe('COMMITTING');
  world.target.away = true;
  expect(await failureType(world.reconcile())).toBe(FailureType.Target);
  expect(await listed(world)).toBe('EFFECT_UNKNOWN');
});

describe('a target that is not set up after the commit has begun', () => {
  async function unprepared(): Promise<ReviewWorld> {
    const world = await new ReviewWorld().confirmed();
    world.target.loses = true;
    await world.commit();
    world.target.unprepared = true;
    return world;
  }

  it('leaves the effect unknown instead of failing, is listed and recorded once, and ends the change when it is set up', async () => {
    const world = await unprepared();
    for (let i = 0; i < 2; i++) {
      expect(await world.reconcile()).toMatchObject({
        state: 'EFFECT_UNKNOWN',
        explanation: expect.stringContaining('its password is wrong'),
      });
      expect([await listed(world), await untold(world)]).toEqual(['EFFECT_UNKNOWN', 1]);
    }
    world.target.unprepared = false;
    expect(await reconciled(world)).toBe('COMMITTED');
  });

  it('makes a rollback fail so that it is retried', async () => {
    const world = await unprepared();
    const failed = world.rollback({ reason: 'commit_refused' });
    await expect(failed).rejects.toThrow('its password is wrong');
    await expect(failed).rejects.not.toMatchObject({ nonRetryable: true });
    expect([await listed(world), await untold(world)]).toEqual(['EFFECT_UNKNOWN', 1]);
    world.target.unprepared = false;
    expect(await world.rollback({ reason: 'commit_refused' })).toMatchObject({ state: 'COMMITTED' });
  });

  it("is resolved by an operator's statement", async () => {
    const world = await unprepared();
    expect(await reconciled(world)).toBe('EFFECT_UNKNOWN');
    await say(world, true);
    expect(await reconciled(world)).toBe('COMMITTED');
  });
});

it('leaves the effect unknown while the source tool of the change is not registered in this committer', async () => {
  const world = await new ReviewWorld().confirmed();
  world.target.loses = true;
  await world.commit();
  const { reconcile } = createCommitActivities({ ...world.deps, tools: sourceToolRegistry([]) });
  expect(await inActivity(() => reconcile(world.input))).toMatchObject({ state: 'EFFECT_UNKNOWN' });
  expect(await listed(world)).toBe('EFFECT_UNKNOWN');
});

it('fails with CONFIGURATION_ERROR before an intent exists, because there is no effect', async () => {
  const world = await new ReviewWorld().confirmed();
  world.pass(16);
  const keys = { ...world.deps.keys, snapshot: () => Promise.reject(misconfigured('keys: expected a registry')) };
  const { reconcile } = createCommitActivities({ ...world.deps, keys });
  expect(await failureType(inActivity(() => reconcile(world.input)))).toBe(FailureType.Configuration);
  expect([await listed(world), await untold(world)]).toEqual(['INTERVENTION_REQUIRED', 0]);
});

it('is listed as unknown if the commit is refused after its effect was lost', async () => {
  const world = await new ReviewWorld().confirmed();
  world.target.loses = true;
  world.target.blind = true;
  expect(await world.commit()).toMatchObject({ state: 'EFFECT_UNKNOWN' });
  await expect(world.rollback({ reason: 'commit_refused' })).rejects.toThrow();
  expect([await listed(world), await untold(world)]).toEqual(['EFFECT_UNKNOWN', 1]);
});

it.each([
  [true, 'COMMITTED', null],
  [false, 'ROLLED_BACK', 'commit_failed'],
] as const)(
  "ends an unknown effect by an operator's statement (applied: %s), which the receipt identifies",
  async (applied, state, reason) => {
    const world = await unknown();
    await say(world, applied);
    expect(await world.reconcile()).toMatchObject({ state, reason });
    const receipt = await receiptOf(world);
    expect(receipt.effect).toMatchObject({ resolution: { keyId: world.keys.operator.keyId, reason: 'seen' } });
    const rows = (await world.rows()).map(({ row }) => row);
    expect(checkResolution(receipt, rows, [world.keys.operator.publicKey])).toContain('seen');
    expect(() => checkResolution(receipt, rows, [])).toThrow('no row contains one of a trusted operator');
    expect(() =>
      checkResolution({ ...receipt, action: applied ? 'ROLLBACK' : 'COMMIT' }, rows, [world.keys.operator.publicKey]),
    ).toThrow('opposite');
    // After the end, further statements have no effect.
    await say(world, !applied);
    expect(await reconciled(world)).toBe(state);
    expect((await world.sends.state()).sealed).toBe(applied);
  },
);

it.each<[string, (world: ReviewWorld) => Promise<void>]>([
  [
    'a key that is not a trusted operator of this committer',
    (world) => say(world, true, { key: testKey('operator', 'other') }),
  ],
  ['an approver', (world) => say(world, true, { key: world.keys.ada })],
  ['an operator about another target', (world) => say(world, true, { target: 'vault' })],
])('leaves the effect unknown after a statement of %s', async (_, word) => {
  const world = await unknown();
  await word(world);
  expect(await reconciled(world)).toBe('EFFECT_UNKNOWN');
});

it("ignores an operator's statement about another change, even if its row is copied here", async () => {
  const world = await unknown();
  const other = await new ReviewWorld({ text: 'OTHER' }).confirmed();
  await recordResolution(
    other.ledger,
    { changeId: other.changeId, target: 'shop', applied: true, reason: 'x', resolvedAt: world.now.toISOString() },
    world.keys.operator,
  );
  const copied = (await other.rows()).find((each) => each.row.kind === 'resolved');
  await world.ledger.append(world.changeId, [
    { kind: 'resolved', at: world.now.toISOString(), factKey: 'copied', body: copied?.row.body ?? {} },
  ]);
  expect(await reconciled(world)).toBe('EFFECT_UNKNOWN');
});

it('gives the target precedence over the operator if the target has an answer', async () => {
  const world = await unknown();
  await say(world, false);
  world.target.blind = false;
  expect(await world.reconcile()).toMatchObject({ state: 'COMMITTED', explanation: 'Committed' });
});

it('asks the target again after a statement that it was applied, if an attempt may be undoing the effect', async () => {
  const world = await unknown();
  await say(world, true);
  await world.sends.beginUndo('guardian.x: no');
  const { tool, effects } = world.target;
  const undone = { found: 'undone', effect: { rows: 1 }, explanation: 'guardian.x: no' } as const;
  const seals: ReadBack[] = [{ found: 'unknown', explanation: 'in neither state' }, undone];
  const late = { ...effects, lateMs: 1, seal: async () => seals.shift() ?? undone };
  const tools = sourceToolRegistry([{ ...tool, staging: async () => late }]);
  const { reconcile } = createCommitActivities({ ...world.deps, tools });
  expect(await inActivity(() => reconcile(world.input))).toMatchObject({ state: 'COMPENSATED', reason: 'post_failed' });
});

it("commits nothing on an operator's statement without an intent: it rolls back as never begun", async () => {
  const world = await new ReviewWorld().confirmed();
  await say(world, true);
  world.pass(16);
  expect(await world.reconcile()).toMatchObject({ state: 'ROLLED_BACK', reason: 'commit_failed' });
  expect(world.target.applied).toBe(0);
});
