import { reviewActivities } from '../../support/review/review-deps';
import { ReviewWorld } from '../../support/review/review-world';

const read = (world: ReviewWorld) => reviewActivities(world.deps).readStatements({ changeId: world.changeId });

test('returns the recorded answers as their admission returned them, and why the change was stopped', async () => {
  const world = await new ReviewWorld().reviewed();
  expect(await read(world)).toEqual({ answers: [], stopped: null });
  const { admitted } = await world.answer(world.keys.ada);
  expect(await read(world)).toEqual({ answers: admitted, stopped: null });
  await world.withdraw(world.keys.service);
  expect(await read(world)).toMatchObject({ answers: admitted, stopped: { reason: 'withdrawn' } });
});

test('returns no confirmation by a key that was revoked since, and still its rejects', async () => {
  const world = await new ReviewWorld().reviewed();
  await world.answer(world.keys.ada);
  const { admitted } = await world.answer(world.keys.bob, { decision: 'reject' });
  const revokedAt = world.clock().toISOString();
  for (const key of [world.keys.ada, world.keys.bob]) world.reregister(key, { revokedAt });
  const rejects = admitted.filter(({ decision }) => decision === 'reject');
  expect(await read(world)).toEqual({ answers: rejects, stopped: null });
  expect(rejects).toHaveLength(1);
});

test('returns nothing of a change that was not opened', async () => {
  expect(await read(new ReviewWorld())).toEqual({ answers: [], stopped: null });
});
