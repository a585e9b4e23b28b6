/**
 * The baseline: a bare workflow of the same shape as a review with two packs, stage, judge, two answers and commit. It has
 * the same number of activities on the same three queues, the same updates, queries, timer, search attributes and memos, but every
 * activity is a no-op.
 */
import {
  allHandlersFinished,
  condition,
  defineQuery,
  defineUpdate,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  CancellationScope,
  isCancellation,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { siblingQueue } from '../policy/contracts/queues';
import { CountersignPending, CountersignStatus } from '../policy/contracts/search-attributes';

export interface FloorActivities {
  readonly nothing: (input: object) => Promise<object>;
}

const options = { startToCloseTimeout: '60 s', summary: 'nothing' } as const;

export const floorStatus = defineQuery<string>('status');
export const floorSubmit = defineUpdate<string>('submit');
export const floorAnswer = defineUpdate<string, [object]>('answer');

export async function floor(input: object): Promise<string> {
  const { taskQueue } = workflowInfo();
  const review = proxyActivities<FloorActivities>(options);
  const judge = proxyActivities<FloorActivities>({ ...options, taskQueue: siblingQueue(taskQueue, 'judge') });
  const commit = proxyActivities<FloorActivities>({ ...options, taskQueue: siblingQueue(taskQueue, 'commit') });
  let preflight = false;
  let state = 'RUNNING';
  setHandler(floorStatus, () => state);
  let answers = 0;
  setHandler(floorSubmit, async () => {
    await condition(() => preflight);
    return 'preflight';
  });
  setHandler(floorAnswer, async (answer) => {
    await review.nothing(answer);
    answers++;
    upsertSearchAttributes([{ key: CountersignPending, value: 2 - answers }]);
    upsertMemo({ answers });
    return 'accepted';
  });
  await review.nothing(input); // open
  upsertSearchAttributes([{ key: CountersignStatus, value: 'RUNNING' }]);
  await Promise.all([review.nothing(input), review.nothing(input)]); // two packs
  preflight = true;
  await commit.nothing(input); // stage
  await judge.nothing(input);
  await review.nothing(input); // disclose
  state = 'INTERVENTION_REQUIRED';
  setCurrentDetails('waits');
  upsertSearchAttributes([
    { key: CountersignStatus, value: 'INTERVENTION_REQUIRED' },
    { key: CountersignPending, value: 2 },
  ]);
  const scope = new CancellationScope();
  const timer = scope.run(async () => {
    try {
      await sleep('1 h', { summary: 'deadline' });
    } catch (error) {
      if (!isCancellation(error)) throw error;
    }
  });
  await condition(() => answers >= 2);
  scope.cancel();
  await timer;
  await commit.nothing(input);
  upsertSearchAttributes([
    { key: CountersignStatus, value: 'COMMITTED' },
    { key: CountersignPending, value: 0 },
  ]);
  upsertMemo({ outcome: 'COMMITTED' });
  await condition(allHandlersFinished);
  return 'done';
}
