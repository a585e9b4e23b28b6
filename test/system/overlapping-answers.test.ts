import { readable, toJson } from '../support/history';
import { replay } from '../support/replay';
import { SHOP } from '../support/shop-bundle';
import { useSystem, workflowBundlePath } from '../support/system';
import { waitingPrice } from './scenarios';

/** The disclosure reports once both answers have arrived, so that one workflow task delivers them. */
let arrived = (): void => {};
const bothArrived = new Promise<void>((resolve) => (arrived = resolve));
const system = useSystem({
  ...SHOP,
  name: 'overlap',
  wrap: (_worker, activities) => {
    const { disclose, ...others } = activities as Record<string, (input: unknown) => Promise<unknown>>;
    if (disclose === undefined) return activities;
    const slow = async (input: unknown): Promise<unknown> => {
      const disclosed = await disclose(input);
      await bothArrived;
      return disclosed;
    };
    return { ...others, disclose: slow };
  },
});

test('two answers in one workflow task are both admitted, and the history replays', async () => {
  const { changeId } = await system.submit(waitingPrice(1));
  const status = await system.waiting(changeId);
  const workflow = system.temporal.workflow.getHandle(changeId);
  for (const person of ['alice', 'bob'] as const)
    await workflow.signal('answer', { answers: system.sign(status, person, 'confirm') });
  arrived();
  expect(await system.ended(changeId)).toMatchObject({ state: 'COMMITTED', verified: true });
  const accepted = (await system.ledger(changeId)).filter(({ row }) => row.kind === 'answer_accepted');
  expect(accepted.map(({ row }) => row.body['person']).toSorted()).toEqual(['alice', 'bob']);
  const history = await workflow.fetchHistory();
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
