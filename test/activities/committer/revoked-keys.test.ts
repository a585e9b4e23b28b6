/** What a key signed before it was revoked still explains why nothing was committed, and never supports a commit. */
import { failureType } from '../../support/review/failure-type';
import { ReviewWorld, START, type WorldOptions } from '../../support/review/review-world';
import { HOLD_ID } from '../../support/review/demo-rules';
import { testKey } from '../../support/keys';
import { JUDGE_ID } from '../../../policy/judge/config';

const DAY = 24 * 60;
const ASKING: WorldOptions = {
  bundle: {
    policies:
      '\n  - { key: ask, name: Ask, match: { validatorIds: [guardian.demo_hold] }, callback: { key: ask, version: v1 } }',
  },
};

/** A review that waits for an answer, whose key of this kind was revoked a minute after the disclosure. */
async function revokedIn(key: 'service' | 'attestor', options?: WorldOptions): Promise<ReviewWorld> {
  const world = await new ReviewWorld(options).reviewed();
  world.pass(1);
  world.reregister(world.keys[key], { revokedAt: world.at() });
  world.pass(1);
  return world;
}

describe.each(['service', 'attestor'] as const)('a review whose %s key was revoked after the disclosure', (kind) => {
  test('is declined if a person rejects it, with the result of a callback', async () => {
    const world = await revokedIn(kind, ASKING);
    expect((await world.answer(world.keys.bob, { decision: 'reject' })).admitted).toHaveLength(1);
    expect(await world.rollback({ reason: 'declined' })).toMatchObject({ state: 'ROLLED_BACK', reason: 'declined' });
  });

  test('is not committed, although every answer is there, and ends as commit_refused with the revoked key as why', async () => {
    const world = await revokedIn(kind);
    await world.answer(world.keys.ada);
    expect(await world.commit()).toMatchObject({
      state: 'REFUSED',
      reason: 'commit_refused',
      explanation: expect.stringMatching(/revoked/),
    });
    expect([world.target.applied, (await world.kinds()).includes('intent')]).toEqual([0, false]);
    expect(await world.rollback({ reason: 'commit_refused' })).toMatchObject({ reason: 'commit_refused' });
  });

  test('is not rolled back for a reason that a forged workflow invents', async () => {
    const world = await revokedIn(kind);
    for (const reason of ['declined', 'expired', 'forbidden', 'contract_violation', 'no_handler', 'withdrawn'] as const)
      expect([reason, await failureType(world.rollback({ reason }))]).toEqual([reason, 'VALIDATION_ERROR']);
    expect(await world.kinds()).not.toContain('decided');
  });
});

describe('a key that leaked supports nothing that its holder signs after its revocation', () => {
  const leaked = testKey('attestor', 'leaked', { revokedAt: START });
  /** A review in which the judge was asked with the leaked key, `minutes` after it was revoked. */
  async function judgedByLeaked(status: 'ALLOW' | 'BLOCK', minutes: number): Promise<ReviewWorld> {
    const world = new ReviewWorld();
    world.registered = [...world.registered, leaked];
    await world.open();
    await world.guard();
    await world.stage();
    world.pass(minutes);
    await world.judged({ status }, {}, leaked);
    return world;
  }

  test.each(['ALLOW', 'BLOCK'] as const)('a disclosure of its %s cannot be declined', async (status) => {
    const world = await judgedByLeaked(status, 2);
    await world.disclose();
    await world.answer(world.keys.bob, { decision: 'reject' });
    expect(await failureType(world.rollback({ reason: 'declined' }))).toBe('VALIDATION_ERROR');
  });

  test('within the tolerance for clocks it can, and still not be committed', async () => {
    const world = await judgedByLeaked('ALLOW', 0);
    await world.disclose();
    await world.answer(world.keys.ada);
    expect(await world.commit()).toMatchObject({ state: 'REFUSED' });
    await world.answer(world.keys.bob, { decision: 'reject' });
    expect(await world.rollback({ reason: 'declined' })).toMatchObject({ reason: 'declined' });
  });

  test('a submission that was opened with a key revoked before is not declined', async () => {
    const world = await new ReviewWorld().reviewed();
    world.reregister(world.keys.service, { revokedAt: new Date(Date.parse(START) - 60_000).toISOString() });
    await world.answer(world.keys.bob, { decision: 'reject' });
    expect(await failureType(world.rollback({ reason: 'declined' }))).toBe('VALIDATION_ERROR');
  });
});

describe('a reject in a row that came after the revocation of its key', () => {
  /** As a thief of the key can write it who also has the database role of a worker. */
  async function rejectedBy(minutesAfter: number): Promise<ReviewWorld> {
    const world = await new ReviewWorld().confirmed();
    const revokedAt = world.at();
    world.pass(minutesAfter);
    await world.answer(world.keys.bob, { decision: 'reject', issuedAt: START });
    world.reregister(world.keys.bob, { revokedAt });
    return world;
  }

  test('does not say that a person declined the change, and still forbids the commit', async () => {
    const world = await rejectedBy(1);
    expect(await failureType(world.rollback({ reason: 'declined' }))).toBe('VALIDATION_ERROR');
    expect(await world.commit()).toMatchObject({
      state: 'REFUSED',
      explanation: expect.stringContaining('a key of bob that was revoked before'),
    });
    expect(await world.rollback({ reason: 'commit_refused' })).toMatchObject({ reason: 'commit_refused' });
  });

  test('counts within the tolerance for clocks', async () => {
    const world = await rejectedBy(0.9);
    expect(await world.rollback({ reason: 'declined' })).toMatchObject({ reason: 'declined' });
  });
});

describe('a review that was confirmed and not committed within the commit window', () => {
  test('ends as commit_failed, although the key of the confirmation was revoked in the meantime', async () => {
    const world = await new ReviewWorld().confirmed();
    world.pass(10);
    world.reregister(world.keys.ada, { revokedAt: world.at() });
    expect(await failureType(world.rollback({ reason: 'commit_failed' }))).toBe('VALIDATION_ERROR');
    world.pass(10);
    expect(await world.rollback({ reason: 'commit_failed' })).toMatchObject({ reason: 'commit_failed' });
  });

  test('does not end so if the confirmation is in a row after the revocation of its key', async () => {
    const world = await new ReviewWorld().confirmed();
    world.reregister(world.keys.ada, { revokedAt: new Date(Date.parse(world.at()) - 60_000).toISOString() });
    world.pass(20);
    expect(await failureType(world.rollback({ reason: 'commit_failed' }))).toBe('VALIDATION_ERROR');
  });

  test.each([10, 20])(
    'and was taken back %i minutes after the confirmation: not before the window has passed',
    async (minutes) => {
      const world = await new ReviewWorld().confirmed();
      await takenBack(world, minutes);
      if (minutes < 15) expect(await failureType(world.rollback({ reason: 'commit_failed' }))).toBe('VALIDATION_ERROR');
      world.pass(10);
      expect(await world.rollback({ reason: 'commit_failed' })).toMatchObject({ reason: 'commit_failed' });
    },
  );

  test.each([0, 1])(
    'does not end so if the first of two confirmations was taken back %i minutes before the second',
    async (minutes) => {
      const world = await new ReviewWorld({ bundle: { implicit: '{ quorum: 2 }' } }).reviewed();
      await world.answer(world.keys.ada);
      await takenBack(world, 1);
      world.pass(minutes);
      await world.answer(world.keys.bob);
      world.pass(30);
      expect(await failureType(world.rollback({ reason: 'commit_failed' }))).toBe('VALIDATION_ERROR');
    },
  );

  test('ends so although both confirmations were taken back, and one was given again, which is not enough', async () => {
    const world = await new ReviewWorld({ bundle: { implicit: '{ quorum: 2 }' } }).confirmed();
    await world.answer(world.keys.bob);
    await takenBack(world, 1);
    await takenBack(world, 1, world.keys.bob);
    world.pass(1);
    const { results } = await world.answer(world.keys.bob);
    expect(Object.values(results)).toMatchObject([{ code: 'accepted' }]);
    world.pass(11);
    expect(await failureType(world.rollback({ reason: 'commit_failed' }))).toBe('VALIDATION_ERROR');
    world.pass(1);
    expect(await world.rollback({ reason: 'commit_failed' })).toMatchObject({ reason: 'commit_failed' });
  });
});

/** A person takes a confirmation back, these minutes later. */
async function takenBack(world: ReviewWorld, minutes: number, by = world.keys.ada): Promise<void> {
  const rows = await world.ledger.readKinds(world.changeId, ['answer_accepted']);
  const confirmed = rows.find(({ row }) => row.body['keyId'] === by.keyId);
  world.pass(minutes);
  const expiresAt = new Date(world.now.getTime() + 60_000).toISOString();
  const retracts = String(confirmed?.row.body['digest']);
  const { results } = await world.answer(by, {
    decision: 'retract',
    retracts,
    issuedAt: world.at(),
    expiresAt,
  });
  expect(Object.values(results)).toMatchObject([{ code: 'accepted' }]);
}

describe('a revocation that no trusted operator signed', () => {
  test('of an attestor that signs after it does not keep the review from being declined or from expiring', async () => {
    for (const reason of ['declined', 'expired'] as const) {
      const world = new ReviewWorld();
      world.reregister(world.keys.attestor, { revokedAt: world.at(), unsignedRevocation: true });
      world.pass(2);
      await world.reviewed();
      if (reason === 'declined') await world.answer(world.keys.bob, { decision: 'reject' });
      else world.pass(DAY);
      expect(await world.rollback({ reason })).toMatchObject({ state: 'ROLLED_BACK', reason });
    }
  });

  test.each(['attestor', 'ada', 'service'] as const)(
    'of the key of %s refuses the commit, which ends as commit_refused',
    async (kind) => {
      const world = await new ReviewWorld().confirmed();
      world.reregister(world.keys[kind], { revokedAt: world.at(), unsignedRevocation: true });
      world.pass(2);
      expect(await world.commit()).toMatchObject({ state: 'REFUSED', reason: 'commit_refused' });
      expect([world.target.applied, (await world.kinds()).includes('intent')]).toEqual([0, false]);
      expect(await world.rollback({ reason: 'commit_refused' })).toMatchObject({ reason: 'commit_refused' });
    },
  );
});

describe('a judge that was asked again', () => {
  test('after the disclosure, and is stricter, does not keep the review from being declined or from expiring', async () => {
    for (const reason of ['declined', 'expired'] as const) {
      const world = await new ReviewWorld().reviewed();
      await world.judged({ status: 'BLOCK' });
      if (reason === 'declined') await world.answer(world.keys.bob, { decision: 'reject' });
      else world.pass(DAY);
      expect(await world.rollback({ reason })).toMatchObject({ state: 'ROLLED_BACK', reason });
    }
  });

  test('after the disclosure, and is stricter, refuses the commit', async () => {
    const world = await new ReviewWorld().confirmed();
    await world.judged({ status: 'BLOCK' });
    expect(await world.commit()).toMatchObject({
      state: 'REFUSED',
      explanation: expect.stringContaining('stricter record'),
    });
  });

  test('before the disclosure, and is stricter than what a worker disclosed: nothing rests on that disclosure', async () => {
    const world = new ReviewWorld();
    await world.open();
    await world.guard();
    await world.stage();
    await world.judged({ status: 'BLOCK' });
    const findings = world.findings({}, { validator_id: JUDGE_ID, status: 'ALLOW', reason: '', evidenceRefs: [] });
    await world.disclose(findings);
    expect(findings.find((f) => f.validator_id === HOLD_ID)?.status).toBe('BLOCK');
    await world.answer(world.keys.bob, { decision: 'reject' });
    expect(await failureType(world.rollback({ reason: 'declined' }))).toBe('VALIDATION_ERROR');
  });
});
