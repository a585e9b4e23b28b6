import {
  allHandlersFinished,
  condition,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
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
import type { FloorNotice } from './floor-notices';

export interface FloorActivities {
  readonly nothing: (input: object) => Promise<object>;
  readonly notify: (what: FloorNotice['what']) => Promise<void>;
}

const options = { startToCloseTimeout: '60 s', summary: 'nothing' } as const;
const inTask = { startToCloseTimeout: '5 s', retry: { maximumAttempts: 1 }, summary: 'nothing' } as const;

const floorSubmit = defineUpdate<string>('submit');
const floorWaiting = defineUpdate<string>('waiting');
const floorAnswer = defineUpdate<string, [object]>('answer');

/**
 * The floor of equal shape: a bare workflow with the steps of a review that has two packs, dry run, judge, two answers and commit. It has
 * the same three activities on the same two queues, the same local activities, updates, timer, search attributes and memos, but
 * each activity does nothing. Like a review it is not queried: `notify` tells the client what a row of the ledger tells it.
 */
export async function floor(input: object): Promise<string> {
  const { taskQueue } = workflowInfo();
  const local = proxyLocalActivities<FloorActivities>(inTask);
  const judge = proxyActivities<FloorActivities>({ ...options, taskQueue: siblingQueue(taskQueue, 'judge') });
  const commit = proxyActivities<FloorActivities>({ ...options, taskQueue: siblingQueue(taskQueue, 'commit') });
  let preflight = false;
  let answers = 0;
  setHandler(floorSubmit, async () => {
    await condition(() => preflight);
    return 'preflight';
  });
  setHandler(floorAnswer, async (answer) => {
    await local.nothing(answer);
    answers++;
    // The last answer is published with the end.
    if (answers < 2) publish('INTERVENTION_REQUIRED', answers);
    return 'accepted';
  });
  await local.nothing(input); // open, with the rules of two packs
  setCurrentDetails('RUNNING');
  preflight = true;
  await commit.nothing(input); // dry run
  await judge.nothing(input);
  await local.notify('waits'); // disclose
  publish('INTERVENTION_REQUIRED', 0);
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
  setCurrentDetails('COMMITTING');
  await commit.notify('ended');
  publish('COMMITTED', answers);
  await condition(allHandlersFinished);
  return 'done';
}

function publish(status: string, answers: number): void {
  setCurrentDetails(status);
  upsertSearchAttributes([
    { key: CountersignStatus, value: status },
    { key: CountersignPending, value: 2 - answers },
  ]);
  if (answers > 0) upsertMemo({ answers });
}

/**
 * The fixed floor: the cheapest workflow that still has the steps of a review. It never changes, so that figures of different versions
 * can be compared: an update with start, three activities in a row of which the first two answer `submit`, an update that
 * resolves when people are needed, two answers, and one commit activity. 46 events, with payloads of about 100 bytes.
 */
export async function fixedFloor(input: object): Promise<string> {
  const { nothing } = proxyActivities<FloorActivities>({ startToCloseTimeout: '60 s' });
  let [done, answers] = [0, 0];
  setHandler(floorSubmit, async () => {
    await condition(() => done >= 2);
    return 'preflight';
  });
  setHandler(floorWaiting, async () => {
    await condition(() => done >= 3);
    return 'INTERVENTION_REQUIRED';
  });
  setHandler(floorAnswer, () => {
    answers++;
    return 'accepted';
  });
  for (; done < 3; done++) await nothing(input);
  await condition(() => answers >= 2);
  await nothing(input);
  await condition(allHandlersFinished);
  return 'done';
}
