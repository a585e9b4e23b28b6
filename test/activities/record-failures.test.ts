import { recordFailures } from '../../activities/record-failures';
import { inActivity } from '../../dev/activity-context';
import { CountersignFailure, digestMismatch, misconfigured, policyMoved } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import { RollbackReason } from '../../policy/contracts/outcome';
import { failureType } from '../support/review/failure-type';
import { reviewActivities } from '../support/review/review-deps';
import { ReviewWorld } from '../support/review/review-world';

const STEPS = ['runGuardians', 'stage', 'disclose', 'commit'] as const;
type Step = (typeof STEPS)[number];

/** Runs a step whose activity throws `error`, in a worker at this attempt. */
async function fail(
  world: ReviewWorld,
  step: Step,
  error: unknown,
  { attempt = 1, unit = 'unit' } = {},
): Promise<void> {
  const failing = async (_input: object): Promise<never> => {
    throw error;
  };
  const activities = { runGuardians: failing, stage: failing, disclose: failing, commit: failing };
  const recorded = recordFailures(world.deps, activities)[step];
  const thrown = await inActivity(() => recorded({ changeId: world.changeId, unit }), { attempt }).catch(
    (caught: unknown) => caught,
  );
  expect(thrown).toMatchObject({ message: (error as Error).message });
}

const failures = async (world: ReviewWorld): Promise<unknown[]> =>
  (await world.rows()).filter(({ row }) => row.body['check'] === 'step_failed').map(({ row }) => row.body);

const broken = misconfigured('no such target');
/** Units of the guardians that run before the dry run. */
const unitsOf = (world: ReviewWorld): string[] => [
  ...new Set(
    world.plan.validators
      .filter((v) => v.kind === 'derived' && !v.needsStaging && v.phase === 'preflight' && v.unit !== 'builtin')
      .map(({ unit }) => unit),
  ),
];

test.each(STEPS)('a failure of %s that no retry resolves is recorded once', async (step) => {
  const world = new ReviewWorld();
  await world.open();
  await fail(world, step, broken);
  await fail(world, step, broken);
  const unit = step === 'runGuardians' ? { unit: 'unit' } : {};
  const body = { check: 'step_failed', step, type: FailureType.Configuration, explanation: broken.message, ...unit };
  expect(await failures(world)).toEqual([body]);
});

test('no failure is recorded that the input can cause, that a retry may resolve, or of a change that was never opened', async () => {
  const world = new ReviewWorld();
  for (const step of STEPS) await fail(world, step, broken);
  expect(world.ledger.all).toHaveLength(0);
  await world.open();
  const passing = [
    digestMismatch('diffSha', 'a', 'b'),
    policyMoved('revoked'),
    CountersignFailure.retryable('down', FailureType.Store),
    new Error('a bug'),
  ];
  for (const step of STEPS) for (const error of passing) await fail(world, step, error);
  expect(await failures(world)).toEqual([]);
});

test('every failure in the last attempt of the guardians is recorded, and in no other', async () => {
  const world = new ReviewWorld();
  await world.open();
  const down = CountersignFailure.retryable('down', FailureType.Store);
  await fail(world, 'runGuardians', down, { attempt: 2 });
  await fail(world, 'stage', down, { attempt: 9 });
  await fail(world, 'runGuardians', digestMismatch('inputSha', 'a', 'b'), { attempt: 3 });
  expect(await failures(world)).toEqual([]);
  await fail(world, 'runGuardians', down, { attempt: 3 });
  await fail(world, 'runGuardians', new Error('a bug'), { attempt: 3, unit: 'other' });
  expect(await failures(world)).toMatchObject([
    { type: FailureType.Store, unit: 'unit' },
    { type: 'Error', unit: 'other' },
  ]);
});

test('a review whose dry run failed permanently ends at once, and not before', async () => {
  const world = new ReviewWorld();
  await world.open();
  await world.guard();
  expect(await failureType(world.rollback({ reason: 'commit_failed' }))).toBe('VALIDATION_ERROR');
  await fail(world, 'stage', broken);
  expect(await world.rollback({ reason: 'commit_failed' })).toMatchObject({
    reason: 'commit_failed',
    explanation: 'The dry run failed: no such target',
  });
});

test('a review whose disclosure failed permanently ends at once, and not before', async () => {
  const world = new ReviewWorld();
  await world.open();
  await world.guard();
  await world.stage();
  expect(await failureType(world.rollback({ reason: 'commit_failed' }))).toBe('VALIDATION_ERROR');
  await fail(world, 'disclose', broken);
  expect(await world.rollback({ reason: 'commit_failed' })).toMatchObject({
    reason: 'commit_failed',
    explanation: 'The violations could not be disclosed: no such target',
  });
});

test('a failed disclosure does not end a review whose violations were disclosed, nor does a failed commit without the answers', async () => {
  const world = await new ReviewWorld().reviewed();
  await fail(world, 'disclose', broken);
  await fail(world, 'commit', broken);
  for (const reason of RollbackReason.options)
    if (reason !== 'withdrawn' && reason !== 'superseded')
      expect(await failureType(world.rollback({ reason }))).toBe('VALIDATION_ERROR');
});

test.each(['violations', 'callbackResults', 'fingerprint', 'reachable'])(
  'a review whose row `disclosed` has no readable %s ends at once, since its disclosure fails permanently',
  async (member) => {
    const world = new ReviewWorld();
    await world.open();
    await world.guard();
    await world.stage();
    await world.judged({ status: 'ALLOW' });
    const disclosed = (await (await new ReviewWorld().reviewed()).rows()).find(({ row }) => row.kind === 'disclosed');
    const body = { ...disclosed?.row.body, [member]: 'another form' };
    await world.ledger.append(world.changeId, [{ kind: 'disclosed', at: world.at(), factKey: 'disclosed', body }]);
    const { disclose } = recordFailures(world.deps, reviewActivities(world.deps));
    const { changeId, stagingSha } = world.input;
    expect(await failureType(disclose({ changeId, stagingSha, unrecorded: {} }))).toBe(FailureType.Configuration);
    expect(await world.rollback({ reason: 'commit_failed' })).toMatchObject({
      reason: 'commit_failed',
      explanation: expect.stringMatching(/^The violations could not be disclosed: /),
    });
  },
);

test('an approved change whose commit failed permanently before it began is rolled back within its commit window', async () => {
  const world = await new ReviewWorld().confirmed();
  expect(await failureType(world.reconcile())).toBe('VALIDATION_ERROR');
  await fail(world, 'commit', broken);
  expect(await world.reconcile()).toMatchObject({
    state: 'ROLLED_BACK',
    reason: 'commit_failed',
    explanation: 'The commit failed before it began: no such target',
  });
  expect(world.target.applied).toBe(0);
});

test('a review whose guardians failed permanently ends before their time-out, once every other unit has answered', async () => {
  const world = new ReviewWorld();
  await world.openUnguarded();
  const units = unitsOf(world);
  expect(units.length).toBeGreaterThan(0);
  for (const unit of units) {
    expect(await failureType(world.rollback({ reason: 'contract_violation' }))).toBe('VALIDATION_ERROR');
    await fail(world, 'runGuardians', broken, { unit });
  }
  expect(await world.rollback({ reason: 'contract_violation' })).toMatchObject({ reason: 'contract_violation' });
});

test('a guardian that failed in one attempt and answered in another does not end the review', async () => {
  const world = new ReviewWorld();
  await world.openUnguarded();
  for (const unit of unitsOf(world)) await fail(world, 'runGuardians', broken, { unit });
  await world.guard();
  await world.stage();
  for (const reason of ['contract_violation', 'forbidden'] as const)
    expect(await failureType(world.rollback({ reason }))).toBe('VALIDATION_ERROR');
});
