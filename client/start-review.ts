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
import { toTemporalProblem, type TemporalProblem } from './temporal-errors';
import { clip } from '../policy/text/cut-text';
import { codeLine } from '../policy/text/plain-line';

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
    // Of a review that runs. Each update that no worker has answered yet counts.
    case 'no_more_updates':
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

/** In UTF-16 code units: with the rest under the server's limit for a summary, also in characters of three bytes and encrypted. */
const MAX_TITLE = 48;
const MAX_TARGET = 24;

/**
 * Summary and details of a review in the Temporal UI, fixed at its start. Contains only the title, as the source tool makes it, names and
 * digests. Without metadata, which the agent wrote and which may contain secrets. The server limits them to 400 and 20,000 bytes.
 * `title` is null if the process that starts the review cannot compute it.
 */
export function describeStart(
  submission: Submission,
  title: string | null,
): { staticSummary: string; staticDetails: string } {
  const { tenant, target, sourceTool, diffSha } = submission;
  const lines = [
    `**${sourceTool}** change on target **${target}** of tenant **${tenant}**`,
    '',
    `- diff \`sha256:${diffSha}\`${submission.inline === undefined ? '' : ' (the bytes are in this history until the end of its retention)'}`,
    `- ${submission.envelope === undefined ? 'not signed: the requester is unknown' : 'signed by a service key'}`,
    ...(submission.supersedes === undefined ? [] : [`- supersedes \`${submission.supersedes}\``]),
    '',
    `\`countersign show\` with this workflow's id shows the diff and its findings.`,
  ];
  return {
    staticSummary:
      title === null
        ? `${sourceTool} on ${tenant}/${target}: ${diffSha.slice(0, 12)}`
        : `${codeLine(title, MAX_TITLE)} on ${clip(target, MAX_TARGET)}`,
    staticDetails: lines.join('\n'),
  };
}
