import { readable, toJson } from '../support/history';
import { replay } from '../support/replay';
import { SHOP, shopBundle } from '../support/shop-bundle';
import { startSystem, workflowBundlePath, type System } from '../support/system';
import { waitingPrice } from './scenarios';

/**
 * While the disclosure takes this long, both answers arrive, so that one workflow task delivers them. A local activity may take five
 * seconds.
 */
const DISCLOSURE_MS = 3_500;
let system: System;
jest.setTimeout(120_000);

beforeAll(async () => {
  system = await startSystem({
    ...SHOP,
    name: 'overlap',
    bundleText: shopBundle(),
    wrap: (_worker, activities) => {
      const { disclose, ...others } = activities as Record<string, (input: unknown) => Promise<unknown>>;
      if (disclose === undefined) return activities;
      const slow = async (input: unknown): Promise<unknown> => {
        const disclosed = await disclose(input);
        await new Promise((resolve) => setTimeout(resolve, DISCLOSURE_MS));
        return disclosed;
      };
      return { ...others, disclose: slow };
    },
  });
}, 120_000);
afterAll(() => system.close());

test('two answers in one workflow task are both admitted, and the history replays', async () => {
  const { changeId } = await system.submit(waitingPrice(1));
  await system.waiting(changeId);
  await Promise.all([system.answer(changeId, 'alice', 'confirm'), system.answer(changeId, 'bob', 'confirm')]);
  expect(await system.ended(changeId)).toMatchObject({ state: 'COMMITTED', verified: true });
  const accepted = (await system.ledger(changeId)).filter(({ row }) => row.kind === 'answer_accepted');
  expect(accepted.map(({ row }) => row.body['person']).toSorted()).toEqual(['alice', 'bob']);
  const history = await system.temporal.workflow.getHandle(changeId).fetchHistory();
  // Otherwise the answers did not overlap: the second one is admitted by an activity.
  expect(scheduled(history.events ?? [], 'admitAnswer')).toBe(1);
  expect(readable(toJson(history))).toContain('"activity_type":"admitAnswer"');
  await replay({ codePath: workflowBundlePath() }, history, changeId);
});

function scheduled(events: readonly { activityTaskScheduledEventAttributes?: unknown }[], type: string): number {
  const attributes = events.map(
    (event) => event.activityTaskScheduledEventAttributes as { activityType?: { name?: string } } | null | undefined,
  );
  return attributes.filter((each) => each?.activityType?.name === type).length;
}
