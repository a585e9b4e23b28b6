import { testKey } from '../../support/keys';
import { failureType } from '../../support/review/failure-type';
import { ReviewWorld, START } from '../../support/review/review-world';
import type { RegisteredEd25519Key } from '../../../policy/evidence/key-registry';
import type { KeyEntry } from '../../../policy/evidence/predicates';

/** A review that was disclosed while the keys of these members of its group grant only this. */
async function withGrant(
  members: readonly ('ada' | 'bob' | 'rita')[],
  grant: Partial<Pick<KeyEntry, 'rights' | 'tenants'>>,
): Promise<ReviewWorld> {
  const world = new ReviewWorld();
  for (const member of members) world.reregister(world.keys[member], grant);
  return world.reviewed();
}

describe.each<[string, Partial<Pick<KeyEntry, 'rights' | 'tenants'>>]>([
  ['may only read', { rights: ['read'] }],
  ['is of another tenant', { tenants: ['other'] }],
])('a member whose key %s', (_what, grant) => {
  test('is not reachable; if the others are not either, the review ends as no_handler', async () => {
    const world = await withGrant(['ada', 'bob', 'rita'], grant);
    expect(world.disclosed).toMatchObject({ reachable: [], keyOwners: {} });
    expect((await world.answer(world.keys.ada)).admitted).toEqual([]);
    expect(await world.rollback({ reason: 'no_handler' })).toMatchObject({
      state: 'ROLLED_BACK',
      reason: 'no_handler',
    });
  });

  test('does not end the review while another member can answer', async () => {
    const world = await withGrant(['ada', 'rita'], grant);
    expect(world.disclosed?.reachable).toEqual(['bob']);
    expect(await failureType(world.rollback({ reason: 'no_handler' }))).toBe('VALIDATION_ERROR');
    expect((await world.answer(world.keys.bob)).admitted).toHaveLength(1);
  });
});

describe('a key that was registered after the disclosure', () => {
  const later = (world: ReviewWorld): void => {
    world.pass(1);
    const added = testKey('approver', 'bob', { addedAt: world.at() });
    world.registered = [...world.registered, added];
  };

  test.each<[string, Partial<RegisteredEd25519Key> | null]>([
    ['has no other', null],
    ['may only read with another', { rights: ['read'] }],
    ['has another that was revoked before', { revokedAt: START }],
  ])('does not keep a review open while its rollback waits for the committer: its owner %s', async (_what, bob) => {
    const world = new ReviewWorld();
    for (const member of ['ada', 'rita'] as const) world.reregister(world.keys[member], { rights: ['read'] });
    if (bob === null) world.registered = world.registered.filter(({ entry }) => entry.keyId !== world.keys.bob.keyId);
    else world.reregister(world.keys.bob, bob);
    await world.reviewed();
    expect(world.disclosed?.reachable).toEqual([]);
    later(world);
    expect(await world.rollback({ reason: 'no_handler' })).toMatchObject({ reason: 'no_handler' });
  });

  test.each([
    [0, 'no_handler'],
    [59_999, 'no_handler'],
    [60_000, 'VALIDATION_ERROR'],
  ])(
    'is also one of the last minute before it, if the disclosure has not seen it: registered %i ms before, %s',
    async (before, expected) => {
      const world = await withGrant(['ada', 'bob', 'rita'], { rights: ['read'] });
      expect(world.disclosed?.reachable).toEqual([]);
      const addedAt = new Date(world.now.getTime() - before).toISOString();
      world.registered = [...world.registered, testKey('approver', 'bob', { addedAt })];
      const ended = world.rollback({ reason: 'no_handler' });
      if (expected === 'no_handler') expect(await ended).toMatchObject({ reason: 'no_handler' });
      else expect(await failureType(ended)).toBe(expected);
    },
  );

  test('takes the place of an older one of the same person, who can still answer', async () => {
    const world = await withGrant(['ada', 'rita'], { rights: ['read'] });
    later(world);
    world.reregister(world.keys.bob, { revokedAt: world.at() });
    expect(await failureType(world.rollback({ reason: 'no_handler' }))).toBe('VALIDATION_ERROR');
  });
});

test.each([0, 30_000])(
  'a forged workflow cannot end a review as no_handler because the keys are new: registered %i ms before the disclosure',
  async (before) => {
    const world = new ReviewWorld();
    for (const member of ['ada', 'bob', 'rita'] as const)
      world.reregister(world.keys[member], { addedAt: new Date(Date.parse(START) - before).toISOString() });
    await world.reviewed();
    expect(world.disclosed?.reachable).toEqual(['ada', 'bob', 'rita']);
    expect(await failureType(world.rollback({ reason: 'no_handler' }))).toBe('VALIDATION_ERROR');
  },
);

describe('approvers whose keys were revoked after the disclosure', () => {
  async function revokedAll(): Promise<ReviewWorld> {
    const world = await new ReviewWorld().reviewed();
    world.pass(1);
    for (const member of ['ada', 'bob', 'rita'] as const)
      world.reregister(world.keys[member], { revokedAt: world.at() });
    return world;
  }

  test('could answer then, so the review ends at its deadline, and as expired', async () => {
    const world = await revokedAll();
    expect(await failureType(world.rollback({ reason: 'no_handler' }))).toBe('VALIDATION_ERROR');
    world.pass(24 * 60);
    expect(await world.rollback({ reason: 'expired' })).toMatchObject({ reason: 'expired' });
  });

  test('are in the result of a repeated disclosure, which decides nothing anew', async () => {
    const world = await revokedAll();
    const first = world.disclosed;
    expect(await world.disclose()).toMatchObject({ reachable: first?.reachable, keyOwners: {} });
  });

  test('are in the result of an attempt that another one preceded, which disclosed when they could answer', async () => {
    const world = await revokedAll();
    const late = await world.disclose(world.findings());
    expect(late).toMatchObject({ reachable: ['ada', 'bob', 'rita'], disclosedAt: START });
  });
});

describe('a disclosure that found no one who can answer ends as no_handler', () => {
  test.each([
    [1, 'no_handler'],
    [59_999, 'no_handler'],
    [60_000, 'VALIDATION_ERROR'],
  ])('if the keys were revoked by a statement whose date is %i ms later: %s', async (later, expected) => {
    const world = new ReviewWorld();
    const revokedAt = new Date(Date.parse(START) + later).toISOString();
    for (const member of ['ada', 'bob', 'rita'] as const) world.reregister(world.keys[member], { revokedAt });
    await world.reviewed();
    expect(world.disclosed?.reachable).toEqual([]);
    const ended = world.rollback({ reason: 'no_handler' });
    if (expected === 'no_handler') expect(await ended).toMatchObject({ reason: 'no_handler' });
    else expect(await failureType(ended)).toBe(expected);
  });

  test.each<[string, Partial<KeyEntry>]>([
    ['service key', { kind: 'service' }],
    ['key of an agent', { subject: { type: 'agent', id: 'bob' } }],
  ])('although a %s with the name of a member may answer by its entry', async (_what, entry) => {
    const world = new ReviewWorld();
    for (const member of ['ada', 'rita'] as const) world.reregister(world.keys[member], { rights: ['read'] });
    world.reregister(world.keys.bob, entry);
    await world.reviewed();
    expect(world.disclosed?.reachable).toEqual([]);
    expect(await world.rollback({ reason: 'no_handler' })).toMatchObject({ reason: 'no_handler' });
  });
});
