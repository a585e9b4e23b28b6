import { failureType } from '../../support/review/failure-type';
import { ReviewWorld } from '../../support/review/review-world';
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
