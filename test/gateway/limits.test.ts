import { AnswerLimits } from '../../gateway/answer-limits';
import { Rate } from '../../gateway/inbox/rate';

const HOUR = 3_600_000;

test('a limit ends with its window, also if the clock was set back meanwhile', () => {
  const rate = new Rate(1, 60_000);
  expect([rate.take(HOUR), rate.take(HOUR + 59_999), rate.take(HOUR + 60_000)]).toEqual([true, false, true]);
  expect([rate.take(0), rate.take(59_999), rate.take(60_000)]).toEqual([true, false, true]);
});

test('the answers of a key are limited for five minutes, also if the clock was set back meanwhile', () => {
  const limits = new AnswerLimits({ sent: 1, refused: 1 });
  const take = (now: number) => limits.take('key', 1, now);
  expect([take(HOUR), take(HOUR + 299_999), take(HOUR + 300_000)]).toEqual([true, false, true]);
  expect([take(0), take(299_999), take(300_000)]).toEqual([true, false, true]);
});
