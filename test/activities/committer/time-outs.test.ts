import { failureType } from '../../support/review/failure-type';
import { ReviewWorld } from '../../support/review/review-world';

const REASONS = ['forbidden', 'contract_violation', 'commit_failed', 'withdrawn'] as const;

async function expectOpen(world: ReviewWorld): Promise<void> {
  for (const reason of REASONS)
    expect([reason, await failureType(world.rollback({ reason }))]).toEqual([reason, 'VALIDATION_ERROR']);
  expect(await world.kinds()).not.toContain('receipt');
}

async function opened(text = 'clean'): Promise<ReviewWorld> {
  const world = new ReviewWorld({ text });
  await world.open();
  return world;
}

describe('a change whose dry run is retried', () => {
  test.each([16, 59])('is not rolled back after %d minutes, whatever is asked for', async (minutes) => {
    const world = await opened();
    world.pass(minutes);
    await expectOpen(world);
  });

  test.each(REASONS)(
    'is rolled back as commit_failed after an hour, also if the reason %s is asked for',
    async (asked) => {
      const world = await opened();
      world.pass(60);
      expect(await world.rollback({ reason: asked })).toMatchObject({
        state: 'ROLLED_BACK',
        reason: 'commit_failed',
        explanation: 'The dry run did not succeed in time',
      });
    },
  );

  test('has an hour from the last finding that the dry run waits for', async () => {
    const world = new ReviewWorld({ text: 'clean' });
    await world.openUnguarded();
    world.pass(14);
    await world.guard();
    world.pass(59);
    await expectOpen(world);
    world.pass(1);
    expect(await world.rollback({ reason: 'commit_failed' })).toMatchObject({ reason: 'commit_failed' });
  });

  test('gets no more time from findings that are written again', async () => {
    const world = await opened();
    world.pass(30);
    const { row } = (await world.rows()).find(({ row: { kind } }) => kind === 'findings') ?? {};
    const again = { kind: 'findings', at: world.at(), factKey: 'findings:again', body: row?.body ?? {} } as const;
    await world.ledger.append(world.changeId, [again]);
    world.pass(30);
    expect(await world.rollback({ reason: 'commit_failed' })).toMatchObject({ reason: 'commit_failed' });
  });

  test.each([0, 16])(
    'is forbidden if a static guardian forbids it, %d minutes after it was opened',
    async (minutes) => {
      const world = await opened('FORBID');
      world.pass(minutes);
      expect(await world.rollback({ reason: 'forbidden' })).toMatchObject({
        state: 'ROLLED_BACK',
        reason: 'forbidden',
        explanation: 'safety.demo_forbid: says FORBID',
      });
    },
  );
});

test('a judge has eleven minutes from the dry run, however long that took; then its silence ends the review', async () => {
  const world = await opened();
  world.pass(50);
  await world.stage();
  world.pass(10);
  await expectOpen(world);
  world.pass(1);
  expect(await world.rollback({ reason: 'contract_violation' })).toMatchObject({ reason: 'contract_violation' });
});

test('the silence of a static guardian ends the review after fifteen minutes, and not before', async () => {
  const world = new ReviewWorld({ text: 'clean' });
  await world.openUnguarded();
  world.pass(14);
  await expectOpen(world);
  world.pass(1);
  expect(await world.rollback({ reason: 'forbidden' })).toMatchObject({ state: 'ROLLED_BACK', reason: 'forbidden' });
});
