import { wakeDelayMs } from '../../policy/decide/wake-delay';
import { eventually } from '../support/eventually';
import { SHOP } from '../support/shop-bundle';
import { useSystem } from '../support/system';
import { waitingPrice } from './scenarios';

const CACHED = 2;
const OPEN = 6;
const system = useSystem({ ...SHOP, name: 'many', maxCachedWorkflows: CACHED });
const ids: string[] = [];

beforeAll(async () => {
  for (let i = 1; i <= OPEN; i++) {
    const { changeId } = await system.submit(waitingPrice(i));
    await system.waiting(changeId);
    ids.push(changeId);
  }
});

test('the worker keeps no more workflows in memory than it may, while more reviews wait', async () => {
  await eventually('the other workflows have left the memory', () => system.cachedWorkflows() <= CACHED);
  expect(system.cachedWorkflows()).toBeGreaterThan(0);
});

test('the timers of reviews with the same time to answer end at different times after their deadlines', async () => {
  const delays: number[] = [];
  for (const changeId of ids) {
    const { events } = await system.temporal.workflow.getHandle(changeId).fetchHistory();
    const event = events?.findLast(({ timerStartedEventAttributes }) => timerStartedEventAttributes != null);
    const { seconds, nanos } = event?.timerStartedEventAttributes?.startToFireTimeout ?? {};
    const started = Number(event?.eventTime?.seconds) * 1000 + Number(event?.eventTime?.nanos) / 1e6;
    const fires = started + Number(seconds) * 1000 + Number(nanos ?? 0) / 1e6;
    const { deadlineAt } = await system.waiting(changeId);
    const row = (await system.ledger(changeId)).find(({ row: { kind } }) => kind === 'disclosed');
    const deadline = Date.parse(deadlineAt ?? '');
    const wanted = wakeDelayMs(changeId, Date.parse(row?.row.at ?? ''), deadline);
    delays.push(wanted);
    // The timer is started a moment after the task that began before it.
    expect(fires - deadline).toBeGreaterThanOrEqual(wanted - 1);
    expect(fires - deadline).toBeLessThan(wanted + 60_000);
  }
  expect(new Set(delays).size).toBeGreaterThan(1);
});

test('a review that has left the memory continues with its answer', async () => {
  const [first = ''] = ids;
  await system.answer(first, 'alice', 'confirm');
  expect(await system.ended(first)).toMatchObject({ state: 'COMMITTED', verified: true });
  await eventually('the workflow of another review has left the memory', () => system.cachedWorkflows() <= CACHED);
});
