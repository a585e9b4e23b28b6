import {
  allHandlersFinished,
  condition,
  defineQuery,
  defineUpdate,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';

interface Activities {
  step(id: string, step: string): Promise<string>;
  admit(message: string): Promise<string>;
}
const { step, admit } = proxyActivities<Activities>({ startToCloseTimeout: '10 minutes' });

/** Like a review: the handler of an update runs an activity, while the main function runs others. */
export async function stepping(id: string): Promise<string[]> {
  const admitted: string[] = [];
  let at = 'first';
  setHandler(defineQuery('status'), () => at);
  setHandler(defineUpdate<string, [string]>('answer'), async (message) => {
    const result = await admit(message);
    admitted.push(result);
    return result;
  });
  for (at of ['first', 'second', 'third']) await step(id, at);
  await condition(() => admitted.length > 0 && allHandlersFinished());
  return admitted;
}
