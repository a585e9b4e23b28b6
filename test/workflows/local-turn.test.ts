import { ActivityFailure, ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { LocalTurn } from '../../workflows/local-turn';

const failed = (cause: Error) =>
  new ActivityFailure('failed', 'admitAnswer', '1', 'MAXIMUM_ATTEMPTS_REACHED', '', cause);
const later = async () => 'activity';

test('what is asked for while a local activity runs is an activity, and the next one is local again', async () => {
  const turn = new LocalTurn();
  let finish = (_result: string): void => {};
  const running = turn.run(() => new Promise<string>((resolve) => (finish = resolve)), later);
  expect(await turn.run(async () => 'local', later)).toBe('activity');
  finish('local');
  expect(await running).toBe('local');
  expect(await turn.run(async () => 'local', later)).toBe('local');
});

test('a local activity that failed is repeated as an activity, while another one may run locally', async () => {
  const turn = new LocalTurn();
  const unavailable = failed(ApplicationFailure.retryable('away', 'STORE_UNAVAILABLE'));
  const nested = () => turn.run(async () => 'local', later);
  expect(await turn.run(() => Promise.reject(unavailable), nested)).toBe('local');
});

test.each<[string, Error]>([
  ['cancelled', failed(new CancelledFailure('cancelled'))],
  ['refused for good', failed(ApplicationFailure.nonRetryable('not a valid answer', 'VALIDATION_ERROR'))],
])('a local activity that was %s is not repeated', async (_name, error) => {
  const turn = new LocalTurn();
  await expect(turn.run(() => Promise.reject(error), later)).rejects.toBe(error);
  expect(await turn.run(async () => 'local', later)).toBe('local');
});
