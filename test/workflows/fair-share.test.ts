import type { ActivityInput, WorkflowExecuteInput } from '@temporalio/workflow';
import { interceptors } from '../../workflows/fair-share';

/** The priority of an activity that a review with this submission schedules. */
async function priorityOf(submission: unknown): Promise<unknown> {
  const { inbound = [], outbound = [] } = interceptors();
  const execute = { args: [submission], headers: {} } as unknown as WorkflowExecuteInput;
  await inbound[0]?.execute?.(execute, async () => null);
  const activity = { options: { startToCloseTimeout: '1 s' } } as unknown as ActivityInput;
  const scheduled = (input: ActivityInput) => Promise.resolve(input.options);
  return await outbound[0]?.scheduleActivity?.(activity, scheduled);
}

test('each activity has the tenant of the submission as its fairness key, and keeps its other options', async () => {
  expect(await priorityOf({ tenant: 'acme' })).toEqual({
    startToCloseTimeout: '1 s',
    priority: { fairnessKey: 'acme' },
  });
});

test.each([undefined, null, {}, { tenant: 5 }, { tenant: 'x'.repeat(64) }, { tenant: 'not a name' }])(
  'an activity of a review without a valid tenant has no fairness key: %j',
  async (submission) => {
    expect(await priorityOf(submission)).toEqual({ startToCloseTimeout: '1 s' });
  },
);
