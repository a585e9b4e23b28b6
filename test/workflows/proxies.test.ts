import { COMMIT_ATTEMPT_MS } from '../../policy/contracts/limits';
import { STEP_MS } from '../../policy/contracts/step-times';

/** Loaded with a replaced SDK, for this file only. */
function loadProxies(): typeof import('../../workflows/proxies') {
  const loaded: { proxies?: typeof import('../../workflows/proxies') } = {};
  jest.isolateModules(() => {
    jest.doMock('@temporalio/workflow', () => ({
      proxyActivities: (options: unknown) => options,
      workflowInfo: () => ({ taskQueue: 'countersign-review' }),
    }));
    loaded.proxies = require('../../workflows/proxies');
    jest.dontMock('@temporalio/workflow');
  });
  return loaded.proxies!;
}

interface Options {
  readonly taskQueue?: string;
  readonly startToCloseTimeout: string | number;
  readonly scheduleToCloseTimeout: number;
  readonly heartbeatTimeout?: string;
  readonly retry: { readonly maximumAttempts?: number };
}

test('each kind of validator has separate time-outs, retries and queues: a slow judge does not delay rules [F4]', () => {
  const { guardians, judge, staging } = loadProxies();
  const [rules, model, dryRun] = [guardians('rules'), judge('model'), staging('dry run')] as unknown as Options[];
  expect(new Set([rules, model, dryRun].map((options) => options?.startToCloseTimeout)).size).toBe(3);
  expect(rules?.taskQueue).toBeUndefined();
  expect(model?.taskQueue).toBe('countersign-judge');
  expect(dryRun?.taskQueue).toBe('countersign-commit');
  expect(dryRun?.startToCloseTimeout).toBe(COMMIT_ATTEMPT_MS);
  expect([rules?.retry.maximumAttempts, model?.retry.maximumAttempts]).toEqual([3, 4]);
  expect([rules, model, dryRun].map((options) => options?.scheduleToCloseTimeout)).toEqual([
    STEP_MS.guardians,
    STEP_MS.judge,
    STEP_MS.dryRun,
  ]);
});
