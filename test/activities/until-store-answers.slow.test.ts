import { untilStoreAnswers } from '../../activities/until-store-answers';
import { inActivity } from '../../dev/activity-context';
import { CountersignFailure, misconfigured } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';

const down = () => CountersignFailure.retryable('the database system is starting up', FailureType.Store);

/** Work that throws these errors one after the other, then returns how often it ran. */
function failing(...errors: readonly Error[]) {
  let runs = 0;
  return async (): Promise<number> => {
    const error = errors[runs++];
    if (error !== undefined) throw error;
    return runs;
  };
}

test('repeats the work until the database answers, in an activity and outside of one', async () => {
  expect(await untilStoreAnswers(failing(down(), down()))).toBe(3);
  expect(await inActivity(() => untilStoreAnswers(failing(down())))).toBe(2);
});

test('throws any other failure at once', async () => {
  const broken = misconfigured('no such target');
  await expect(untilStoreAnswers(failing(down(), broken, down()))).rejects.toBe(broken);
});

test('throws the last failure of the database when the wait is over', async () => {
  const last = down();
  await expect(untilStoreAnswers(failing(down(), last, down()), 600)).rejects.toBe(last);
});
