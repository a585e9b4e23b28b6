import { BREAKER_ATTEMPTS } from '../../../activities/review/attest-world-facts';
import { FailureType } from '../../../policy/contracts/failure-type';
import { failureType } from '../../support/review/failure-type';
import { ReviewWorld } from '../../support/review/review-world';

const CIRCUIT = 'guardian.circuit_open';

/** A change that no other validator blocks. */
function unread(attempt: number): ReviewWorld {
  const validators = '\n  - rule: demo_hold';
  const world = new ReviewWorld({ text: 'clean', breakers: 'away', bundle: { validators } });
  world.attempt = attempt;
  return world;
}

test('fails the opening and writes nothing while the breakers do not answer', async () => {
  for (let attempt = 1; attempt < BREAKER_ATTEMPTS; attempt++) {
    const world = unread(attempt);
    expect(await failureType(world.open())).toBe(FailureType.Backend);
    expect(await world.kinds()).toEqual([]);
  }
});

test('opens the change without the breakers at the last attempt, and a person must confirm before it commits', async () => {
  const asked = await unread(BREAKER_ATTEMPTS).reviewed();
  expect(asked.opened?.results[CIRCUIT]).toMatchObject({
    status: 'BLOCK',
    errorClass: 'ErrValidatorBackend',
    reasonCode: 'breakers_unread',
  });
  expect(asked.disclosed?.violations.map((v) => [v.validatorId, v.need])).toEqual([[CIRCUIT, 'human']]);
  expect(await asked.commit()).toMatchObject({ state: 'REFUSED' });
  expect(asked.target.applied).toBe(0);

  const confirmed = await unread(BREAKER_ATTEMPTS).confirmed();
  expect(await confirmed.commit()).toMatchObject({ state: 'COMMITTED' });
  expect(confirmed.target.applied).toBe(1);
});

test('refuses a commit that hides from the committer that the breakers did not answer', async () => {
  const world = unread(BREAKER_ATTEMPTS);
  await world.open();
  await world.stage();
  expect(await world.commit()).toMatchObject({ state: 'REFUSED' });
  expect(world.target.applied).toBe(0);
});
