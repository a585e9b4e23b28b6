/**
 * The fixed floor: the cheapest workflow that still has the steps of a review. It never changes, so that figures of different versions
 * can be compared: an update with start, three activities in a row of which the first two answer `submit`, an update that
 * resolves when people are needed, two answers, and one commit activity. 46 events, with payloads of about 100 bytes.
 */
import { allHandlersFinished, condition, defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';
import type { FloorActivities } from './floor-workflow';

const fixedSubmit = defineUpdate<string>('submit');
const fixedWaiting = defineUpdate<string>('waiting');
const fixedAnswer = defineUpdate<string, [object]>('answer');

export async function fixedFloor(input: object): Promise<string> {
  const { nothing } = proxyActivities<FloorActivities>({ startToCloseTimeout: '60 s' });
  let [done, answers] = [0, 0];
  setHandler(fixedSubmit, async () => {
    await condition(() => done >= 2);
    return 'preflight';
  });
  setHandler(fixedWaiting, async () => {
    await condition(() => done >= 3);
    return 'INTERVENTION_REQUIRED';
  });
  setHandler(fixedAnswer, () => {
    answers++;
    return 'accepted';
  });
  for (; done < 3; done++) await nothing(input);
  await condition(() => answers >= 2);
  await nothing(input);
  await condition(allHandlersFinished);
  return 'done';
}
