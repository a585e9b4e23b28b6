import { AnswerLimits } from '../../gateway/answer-limits';
import { Rate } from '../../gateway/inbox/rate';

const HOUR = 3_600_000;

describe('after the clock was set back by more than the window', () => {
  it('the rate of a gateway counts from the new time', () => {
    const rate = new Rate(1, 60_000);
    expect([rate.take(2 * HOUR), rate.take(2 * HOUR), rate.take(HOUR)]).toEqual([true, false, true]);
  });

  it('the limit of a key counts from the new time', () => {
    const limits = new AnswerLimits({ sent: 1, refused: 1 });
    expect([limits.take('k', 1, 2 * HOUR), limits.take('k', 1, 2 * HOUR), limits.take('k', 1, HOUR)]).toEqual([
      true,
      false,
      true,
    ]);
  });
});
