import { sha256HexOfText } from '../../../policy/contracts/hash';
import { maxWakeDelayMs, wakeDelayMs } from '../../../policy/decide/wake-delay';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const ids = Array.from({ length: 10_000 }, (_, i) => sha256HexOfText(`review ${i}`));

test('10,000 reviews with the same deadline wake up over ten minutes, fewer than 40 in any second', () => {
  const delays = ids.map((id) => wakeDelayMs(id, 0, 7 * DAY));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...delays)).toBeLessThan(10 * MINUTE);
  const bySecond = new Map<number, number>();
  for (const delay of delays) bySecond.set(Math.floor(delay / 1000), (bySecond.get(Math.floor(delay / 1000)) ?? 0) + 1);
  expect(bySecond.size).toBe(600);
  expect(Math.max(...bySecond.values())).toBeLessThan(40);
});

test('a delay is at most one hundredth of the time that people have', () => {
  for (const id of ids.slice(0, 100)) {
    expect(wakeDelayMs(id, 0, 10_000)).toBeLessThanOrEqual(100);
    expect(wakeDelayMs(id, 0, 10_000)).toBeLessThanOrEqual(maxWakeDelayMs(0, 10_000));
  }
  expect(maxWakeDelayMs(0, DAY)).toBe(10 * MINUTE);
});

test('a workflow with another id, or with a deadline before its disclosure, wakes up at the deadline', () => {
  expect(wakeDelayMs('not a change id', 0, DAY)).toBe(0);
  expect(wakeDelayMs(ids[0] ?? '', DAY, 0)).toBe(0);
});
