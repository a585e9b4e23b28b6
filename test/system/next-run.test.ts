import { queryWorkflow } from '../../dev/query-workflow';
import { SHOP } from '../support/shop-bundle';
import { eventually } from '../support/eventually';
import { startSystem, type System } from '../support/system';
import { PRICE } from './scenarios';

let system: System;
beforeAll(async () => {
  system = await startSystem({ ...SHOP, name: 'nextrun' });
}, 120_000);
afterAll(() => system.close());
jest.setTimeout(400_000);

const handle = (changeId: string) => system.temporal.workflow.getHandle(changeId);
const runOf = async (changeId: string): Promise<string> => (await handle(changeId).describe()).runId;

/** Events after which a review continues as a new run. */
const LONG = 1_500;
/** Signals until the history is long, then waits until the review has continued as a new run: it does so in a pause between messages. */
async function flood(changeId: string): Promise<void> {
  const first = await runOf(changeId);
  while ((await handle(changeId).describe()).historyLength < LONG && (await runOf(changeId)) === first)
    await Promise.all(
      Array.from({ length: 200 }, (_, i) => handle(changeId).signal(i % 2 === 0 ? 'look_again' : 'other')),
    );
  await eventually('the review continues as a new run', async () => (await runOf(changeId)) !== first, {
    everyMs: 100,
    withinMs: 180_000,
  });
}

test('a review whose history is long continues as a new run, with its violations and the answers that it has', async () => {
  const { changeId } = await system
    .client(null)
    .submit({ ...PRICE(20, 1, 700), target: 'shop', requestKey: system.suffix });
  const before = await system.waiting(changeId);
  // A change of an unknown requester needs two people.
  await system.answer(changeId, 'alice', 'confirm');
  await flood(changeId);
  const after = await queryWorkflow<{ fingerprint: string; violations: unknown[]; state: string }>(
    handle(changeId),
    'status',
  );
  expect(after).toMatchObject({ fingerprint: before.fingerprint, state: 'INTERVENTION_REQUIRED' });
  expect(after.violations).toMatchObject([{ resolution: 'pending', confirmedBy: ['alice'] }]);
  await system.answer(changeId, 'bob', 'confirm');
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
});
