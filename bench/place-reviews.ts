import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { z } from 'zod';
import type { Disclosed, Opened, DryRun } from '../activities/review-types';
import type { DevClient } from '../dev/client';
import { query } from '../dev/query';
import type { Dev } from '../dev/start';
import { canonicalJson } from '../policy/contracts/canonical-json';
import { Submission } from '../policy/contracts/diff';
import { REVIEW_WORKFLOW, TASK_QUEUES } from '../policy/contracts/queues';
import type { Reported } from '../policy/decide/reported';
import { matchPolicies } from '../policy/decide/violations';
import type { Carried } from '../workflows/review-state';
import { now, Review } from '../workflows/review-state';
import { throughput } from './measure';

const STARTS_AT_ONCE = 20;
const ROWS_AT_ONCE = 250;
/** Ten thousand reviews wait after a few minutes. */
const WAIT_MS = 3_600_000;

/**
 * Adds `count` reviews that wait for people, without submitting a change for each: their workflows start as the next run of a waiting
 * review (continue-as-new), with the state of the review `like`, and their rows are appended in bulk. No guardian, dry run or disclosure
 * runs, so a hundred times as many fit in the same time. They wait, time out and are listed as all others; their answers would be refused.
 */
export async function placeReviews(
  dev: Dev,
  client: DevClient,
  like: string,
  count: number,
  placed: (count: number) => void,
): Promise<void> {
  const { submission, carried } = await waitingState(client, like);
  await placeRows(dev, client, like, count);
  let started = 0;
  await throughput(count, STARTS_AT_ONCE, async (i) => {
    await client.temporal.workflow.start(REVIEW_WORKFLOW, {
      workflowId: placedId(i),
      taskQueue: TASK_QUEUES.review,
      args: [submission, carried],
    });
    placed(++started);
  });
  await untilAllWait(client, count);
}

/** What the SDK writes of a local activity into its marker. */
const LocalActivity = z.object({ activity_type: z.string() });

const placedId = (i: number): string => createHash('sha256').update(`placed ${i}`).digest('hex');

/** What the workflow of this review would carry to its next run, from the results of its activities. */
async function waitingState(
  { temporal }: DevClient,
  changeId: string,
): Promise<{ readonly submission: Submission; readonly carried: Carried }> {
  const { events } = await temporal.workflow.getHandle(changeId).fetchHistory();
  const decoded = (payload: unknown): unknown => defaultPayloadConverter.fromPayload(payload as Payload);
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  const submission = Submission.parse(decoded(started?.input?.payloads?.[0]));
  const types = new Map(
    (events ?? []).map((event) => [
      String(event.eventId),
      event.activityTaskScheduledEventAttributes?.activityType?.name,
    ]),
  );
  const change = new Review(changeId, '', submission);
  for (const { activityTaskCompletedEventAttributes: completed, markerRecordedEventAttributes: marker } of events ??
    []) {
    if (completed != null)
      apply(change, types.get(String(completed.scheduledEventId)) ?? '', decoded(completed.result?.payloads?.[0]));
    // Of a local activity.
    const { data, result } = marker?.details ?? {};
    const local = LocalActivity.safeParse(data?.payloads?.[0] == null ? null : decoded(data.payloads[0]));
    if (local.success) apply(change, local.data.activity_type, decoded(result?.payloads?.[0]));
  }
  change.state = 'INTERVENTION_REQUIRED';
  const { action } = change.decideAt(now());
  if (action !== 'WAIT') throw new Error(`The review ${changeId} does not wait: ${action}`);
  return { submission, carried: change.carry({ what: 'answers' }) };
}

function apply(change: Review, activity: string, result: unknown): void {
  switch (activity) {
    case 'openReview': {
      const opened = result as Opened;
      change.open(opened);
      change.findings.recordReported(opened.reported);
      change.title = opened.title;
      return;
    }
    case 'runGuardians':
      return change.findings.recordReported(result as Reported);
    case 'stage': {
      const staged = result as DryRun;
      if (staged.kind !== 'staged') throw new Error('The dry run was refused');
      change.cardinality = staged.cardinality;
      change.stagingSha = staged.stagingSha;
      return change.findings.recordReported(staged.reported);
    }
    case 'disclose':
      change.findings.complete();
      return change.disclose(
        matchPolicies(change.plan, change.findings.all(), change.cardinality),
        result as Disclosed,
      );
    default:
      throw new Error(`A review that waits has no result of "${activity}"`);
  }
}

/** Rows and projection of each, by which it is listed and searched. */
async function placeRows({ runtime }: Dev, { ledger }: DevClient, like: string, count: number): Promise<void> {
  const rows = await ledger.readKinds(like, ['submitted', 'planned', 'disclosed']);
  const review = await ledger.review(like);
  if (review === null) throw new Error(`The ledger has no review ${like}`);
  const { state, pending, highestSeverity, openedAt, updatedAt, deadlineAt, summary } = review;
  const projection = canonicalJson({ state, pending, highestSeverity, openedAt, updatedAt, deadlineAt, summary });
  const kinds = rows.map(({ row }) => row.kind);
  for (let from = 0; from < count; from += ROWS_AT_ONCE) {
    const ids = Array.from({ length: Math.min(ROWS_AT_ONCE, count - from) }, (_, i) => placedId(from + i));
    await query(
      runtime.postgres.superuserUrl('countersign'),
      `select count(*) from unnest($1::text[]) as c(id) cross join lateral ledger_append(
         c.id, $2::text[], $3::text[], $4::text[], $2::text[], array_fill(null::text, array[$5::int]), array_fill(null::text, array[$5::int]), $6::json)`,
      [
        ids,
        kinds,
        rows.map(({ row }) => row.at),
        rows.map(({ row }) => canonicalJson(row.body)),
        kinds.length,
        projection,
      ],
    );
  }
}

/** A workflow says that it waits when its first task is done. */
async function untilAllWait({ temporal }: DevClient, count: number): Promise<void> {
  const waiting = async (): Promise<number> => {
    const { count: found } = await temporal.workflow.count(`CountersignStatus = 'INTERVENTION_REQUIRED'`);
    return found;
  };
  let found = await waiting();
  for (const until = Date.now() + WAIT_MS; found < count && Date.now() < until; found = await waiting())
    await sleep(2_000);
  if (found < count) throw new Error(`${found} of ${count} placed reviews wait after ${WAIT_MS / 60_000} min`);
}
