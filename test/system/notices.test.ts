import { ApplicationFailure } from '@temporalio/common';
import type { ReviewActivities } from '../../activities/review-types';
import { SHOP_SQL, shopBundle, shopExtension } from '../support/shop-bundle';
import { startSystem, type System } from '../support/system';
import { DRAFT, waitingPrice } from './scenarios';

/** Every notice fails, as if the webhook server were permanently down. */
let system: System;
let asked = 0;
beforeAll(async () => {
  system = await startSystem({
    name: 'notices',
    bundleText: shopBundle(),
    extension: shopExtension,
    shopSql: SHOP_SQL,
    wrap: (worker, activities) =>
      worker === 'review'
        ? {
            ...activities,
            openReview: async (input: never) => ({
              ...(await (activities as ReviewActivities).openReview(input)),
              channels: ['webhook'],
            }),
            notify: async () => {
              asked++;
              throw ApplicationFailure.nonRetryable('the webhook server is down', 'NOTICE_FAILED');
            },
          }
        : activities,
  });
}, 120_000);
afterAll(() => system.close());
jest.setTimeout(120_000);

test('a review whose notices all fail still waits for an answer, and expires without one [T63]', async () => {
  const draft = await system.submit(DRAFT);
  const price = await system.submit(waitingPrice(25));
  await system.waiting(price.changeId);
  expect(await system.ended(draft.changeId)).toMatchObject({ state: 'ROLLED_BACK', outcome: { reason: 'expired' } });
  expect(asked).toBeGreaterThan(0);
  expect(await system.shop('select cents from prices where id = 25')).toEqual([{ cents: 500 }]);
  expect((await system.countersign.status(price.changeId))?.state).toBe('INTERVENTION_REQUIRED');
  await system.answer(price.changeId, 'alice', 'confirm');
  expect((await system.ended(price.changeId)).state).toBe('COMMITTED');
});
