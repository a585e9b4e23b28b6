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
