import {
  allHandlersFinished,
  condition,
  defineQuery,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';

interface Activities {
  step(name: string): Promise<string>;
}
const { step } = proxyActivities<Activities>({ startToCloseTimeout: '1 minute' });
const { step: localStep } = proxyLocalActivities<Activities>({ startToCloseTimeout: '1 minute' });

/** Like a review: an activity, then a local activity, while the handler of an update runs another one. */
export async function localSteps(): Promise<string[]> {
  const done: string[] = [];
  setHandler(defineQuery('status'), () => done);
  setHandler(defineUpdate<string, [string]>('answer'), async (message) => {
    const result = await localStep(message);
    done.push(result);
    return result;
  });
  done.push(await step('first'));
  done.push(await localStep('slow'));
  await condition(() => done.length === 3 && allHandlersFinished());
  done.push(await step('last'));
  return done;
}
