import { ReviewWorld } from '../../support/review/review-world';
import { failureType } from '../../support/review/failure-type';

const HOUR_MS = 3_600_000;

/** A review whose processes have another clock than the database. */
class SkewedWorld extends ReviewWorld {
  /** How far the clock of the database is ahead. */
  aheadMs = 0;

  get databaseTime(): Date {
    return new Date(this.now.getTime() + this.aheadMs);
  }

  override get deps() {
    return { ...super.deps, databaseNow: async () => this.databaseTime };
  }

  /** Ada confirms, with an answer that is valid for an hour from the time of the database. */
  confirm(): Promise<unknown> {
    const issuedAt = this.databaseTime;
    const expiresAt = new Date(issuedAt.getTime() + HOUR_MS);
    return this.answer(this.keys.ada, { issuedAt: issuedAt.toISOString(), expiresAt: expiresAt.toISOString() });
  }
}

test('an answer that is admitted after the deadline by the clock of the database never counts, although the clocks of the processes and the timer of the workflow are late', async () => {
  const world = await new SkewedWorld().reviewed();
  world.aheadMs = 24 * HOUR_MS + 1;
  await world.confirm();
  expect(await world.commit()).toMatchObject({ state: 'REFUSED', explanation: expect.stringContaining('decision') });
  expect(await world.rollback({ reason: 'expired' })).toMatchObject({ state: 'ROLLED_BACK', reason: 'expired' });
  expect(world.target.applied).toBe(0);
});

test('an answer before the deadline by the clock of the database counts, although the clocks of the processes are ahead', async () => {
  const world = await new SkewedWorld().reviewed();
  world.pass(48 * 60);
  world.aheadMs = -47 * HOUR_MS;
  expect(await failureType(world.rollback({ reason: 'expired' }))).toBe('VALIDATION_ERROR');
  await world.confirm();
  expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
});

describe('a reject after the deadline of its violation, while another violation still waits', () => {
  const policies = '\n  - { key: hour, name: Hour, match: { validatorIds: [guardian.demo_hold] }, deadline: 1h }';

  /** Ada confirms the violation with the short deadline, rejects it an hour after the deadline, and then Bob confirms the other one. */
  async function rejectedLate(): Promise<ReviewWorld> {
    const world = await new ReviewWorld({ text: 'HOLD OTHER', bundle: { policies } }).reviewed();
    const [short = '', long = ''] = world.disclosed?.violations.map(({ violationId }) => violationId) ?? [];
    await world.answer(world.keys.ada, { violationId: short });
    world.pass(120);
    const { results } = await world.answer(world.keys.ada, { violationId: short, decision: 'reject' });
    expect(results).toEqual({ [short]: { code: 'accepted', message: 'reject by ada' } });
    await world.answer(world.keys.bob, { violationId: long });
    return world;
  }

  test('declines the change: the committer supports the reason that `decide` gives', async () => {
    const world = await rejectedLate();
    expect(await world.rollback({ reason: 'declined' })).toMatchObject({
      state: 'ROLLED_BACK',
      reason: 'declined',
      explanation: expect.stringContaining('declined by ada'),
    });
  });

  test('forbids the commit', async () => {
    const world = await rejectedLate();
    expect(await world.commit()).toMatchObject({ state: 'REFUSED', explanation: expect.stringContaining('reject') });
    expect(world.target.applied).toBe(0);
  });

  test('declines the change also after its key was revoked', async () => {
    const world = await rejectedLate();
    world.reregister(world.keys.ada, { revokedAt: world.at() });
    expect(await world.rollback({ reason: 'declined' })).toMatchObject({ state: 'ROLLED_BACK', reason: 'declined' });
  });
});
