import { setTimeout as pause } from 'node:timers/promises';
import { startWorker } from '../../dev/start-worker';
import type { Submission } from '../../policy/contracts/diff';
import type { Plan } from '../../policy/contracts/plan';
import { workflowBundle } from '../../workers/workflow-bundle';
import type { Carried } from '../../workflows/review-state';
import { refundOrder } from './attack';
import { forgedOpening } from './forged-state';
import { ENDED, ifRefused } from './if-refused';
import { RaceLost } from './namespace-writer';
import type { Testbed } from './testbed';
import { throttled } from './throttled';

const IDENTITY = 'mallory';
/** The server serves the oldest poll first, so with more polls than our worker the attacker has most of the tasks. */
const POLLS = 60;
const STARTS = 12;

/**
 * Starts the review of a change, and runs its first step in a worker of the attacker, which has our workflow code and reports these
 * findings as those of the opening. Rows are written by our worker only, when the attacker schedules its activity. Throws RaceLost.
 */
export async function forgeOpening(
  testbed: Testbed,
  change: Parameters<Testbed['prepared']>[0],
  report: (plan: Plan) => Carried['opened']['reported'],
): Promise<string> {
  const { changeId, submission } = await testbed.prepared(change);
  const other = (await testbed.submitAndWait(refundOrder(7))).changeId;
  const { planHash } = await testbed.submissionOf(other);
  const plan = await testbed.planOf(other);
  const opened = { ...forgedOpening(plan, planHash), reported: report(plan) };
  // The dry run must not begin before the rows of the opening are written.
  await throttled(testbed, [testbed.queues.commit], async () => {
    const written = await testbed.attacker.schedule('openReview', testbed.queues.review, { changeId, submission });
    if (!written.ok) throw new Error(`openReview: ${written.message}`);
    await runFirstStep(testbed, changeId, submission, opened);
  });
  return changeId;
}

async function runFirstStep(
  testbed: Testbed,
  changeId: string,
  submission: Submission,
  opened: Carried['opened'],
): Promise<void> {
  const { temporalAddress, namespace } = testbed.dev.runtime;
  const worker = await startWorker(temporalAddress, {
    namespace,
    identity: IDENTITY,
    taskQueue: testbed.queues.review,
    workflowBundle: { code: await workflowBundle() },
    activities: { openReview: async () => opened },
    enableNonLocalActivities: false,
    // Without a sticky queue: the later steps are those of our worker.
    maxCachedWorkflows: 0,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: POLLS },
    maxConcurrentWorkflowTaskExecutions: POLLS,
  });
  try {
    for (let starts = 1; ; starts++) {
      await testbed.startReview(changeId, submission);
      if ((await firstWorker(testbed, changeId)) === IDENTITY) return;
      await ifRefused(testbed.temporal.workflow.getHandle(changeId).terminate('maintenance'), ENDED, null);
      if (starts === STARTS) throw new RaceLost(`our worker had the first step of ${changeId}, ${STARTS} times`);
    }
  } finally {
    await worker.stop();
  }
}

/** The identity of the worker that completed the first workflow task. Throws RaceLost after 15 s. */
async function firstWorker(testbed: Testbed, changeId: string): Promise<string> {
  for (const until = Date.now() + 15_000; Date.now() < until; await pause(50)) {
    const { events } = await testbed.temporal.workflow.getHandle(changeId).fetchHistory();
    const identity = events?.find((event) => event.workflowTaskCompletedEventAttributes != null)
      ?.workflowTaskCompletedEventAttributes?.identity;
    if (identity != null) return identity;
  }
  throw new RaceLost(`no worker had the first step of ${changeId}`);
}
