import { WithStartWorkflowOperation, type Client } from '@temporalio/client';
import { TypedSearchAttributes, type Workflow } from '@temporalio/common';
import type { Submission } from '../policy/contracts/diff';
import { MESSAGES } from '../policy/contracts/messages';
import { REVIEW_WORKFLOW } from '../policy/contracts/queues';
import { startAttributes } from '../policy/contracts/search-attributes';
import { Preflight } from '../policy/contracts/status';
import { CountersignError } from './errors';
import { refusedBy, setupHint, unavailable } from './review-errors';
import type { ReviewRuns } from './review-runs';
import { describeStart } from './start-description';
import { toTemporalProblem, type TemporalProblem } from './temporal-errors';

const SUBMIT_AGAIN = 'Submit again: the same change joins the same review';

export interface Start {
  readonly temporal: Client;
  readonly runs: ReviewRuns;
  readonly taskQueue: string;
  readonly changeId: string;
  readonly submission: Submission;
  readonly timeoutMs: number;
  readonly title: string | null;
}

/**
 * Starts the review, or joins the running one, and waits for the static findings. `pending`: no preflight in time, or a reply that is
 * none; the review runs. `closed`: the review of this change has ended. Throws as `ReviewClient.start`.
 */
export async function startReview(start: Start): Promise<Preflight | 'pending' | 'closed'> {
  const { temporal, runs, changeId, submission } = start;
  const startWorkflowOperation = new WithStartWorkflowOperation(REVIEW_WORKFLOW, {
    workflowId: changeId,
    taskQueue: start.taskQueue,
    args: [submission],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    priority: { fairnessKey: submission.tenant },
    typedSearchAttributes: new TypedSearchAttributes(startAttributes(submission)),
    ...describeStart(submission, start.title),
  });
  try {
    const reply = await runs.within(start.timeoutMs, () =>
      // Do not set an update id: for a known id the server returns the result from a closed run as if it were open, so that
      // a known outcome would look like a new approval. Retries inside this call reuse the id that the SDK generates.
      temporal.workflow.executeUpdateWithStart<Workflow, unknown, []>(MESSAGES.submit, { startWorkflowOperation }),
    );
    return preflightOf(changeId, reply);
  } catch (error) {
    return await afterFailure(runs, changeId, toTemporalProblem(error), error);
  }
}

/** Another workflow may run under the id of the change, and reply anything. */
function preflightOf(changeId: string, reply: unknown): Preflight | 'pending' {
  const preflight = Preflight.safeParse(reply).data;
  return preflight?.changeId === changeId ? preflight : 'pending';
}

async function afterFailure(
  runs: ReviewRuns,
  changeId: string,
  problem: TemporalProblem,
  cause: unknown,
): Promise<'pending' | 'closed'> {
  switch (problem.kind) {
    case 'already_closed':
    case 'not_running':
      return 'closed';
    case 'timed_out':
    case 'unreachable':
    case 'no_worker':
      switch (await runs.probe(changeId)) {
        case 'running':
          return 'pending';
        case 'closed':
          return 'closed';
        case 'unknown':
          break;
      }
      throw unavailable(`It is unknown whether the review started. ${SUBMIT_AGAIN}`, problem.message, cause);
    case 'refused':
      throw refusedBy(problem, cause, SUBMIT_AGAIN);
    case 'workflow_failed':
    case 'no_more_updates':
    case 'other':
      throw new CountersignError(
        'internal',
        `Submitting ${changeId} failed: ${problem.message}${setupHint(problem.message)}`,
        { cause },
      );
    default:
      return problem satisfies never;
  }
}
