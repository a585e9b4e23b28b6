import { trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { temporal } from '@temporalio/proto';
import { queryWorkflow } from '../../dev/query-workflow';
import { eventually } from '../support/eventually';
import { useJudgedShop } from './judge-words';
import { CONCERN, SECRET } from './scenarios';

/** What an operator sees of a review in the Temporal UI and in traces. */
const spans = new InMemorySpanExporter();
let changeId: string;
// Before the workers start.
beforeAll(() => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
});
const { system } = useJudgedShop('legible');
beforeAll(async () => {
  ({ changeId } = await system.submit(CONCERN));
  await system.waiting(changeId);
});

const handle = () => system.temporal.workflow.getHandle(changeId);
const text = (payload: temporal.api.common.v1.IPayload | null | undefined): string =>
  payload?.data == null ? '' : (JSON.parse(Buffer.from(payload.data).toString()) as string);

async function currentDetails(): Promise<string> {
  return (await queryWorkflow<{ currentDetails: string }>(handle(), '__temporal_workflow_metadata')).currentDetails;
}

test('the workflow summary names the change: tool, tenant, target and digest', async () => {
  const { staticSummary, staticDetails } = await handle()
    .describe()
    .then(async (d) => ({ staticSummary: await d.staticSummary(), staticDetails: await d.staticDetails() }));
  expect(staticSummary).toMatch(/^SQLDryRun on default\/shop: [0-9a-f]{12}$/);
  expect(staticDetails).toContain('signed by a service key');
});

test('current details show the title, the required answers, who can give them and the deadline, and no text from the agent', async () => {
  const details = await currentDetails();
  expect(details).toMatch(/\*\*INTERVENTION_REQUIRED\*\*/);
  expect(details).toContain('`UPDATE items: 1 row`');
  expect(details).toMatch(/Waits for 1 answer until \d{4}-/);
  expect(details).toMatch(/`guardian\.llm_judge`: 1 of group \*\*dba\*\* \(alice, bob\)/);
  expect(details).not.toContain(SECRET);
});

test('waiting reviews can be found by typed search attributes', async () => {
  const query = `CountersignStatus = 'INTERVENTION_REQUIRED' AND CountersignTarget = 'shop' AND CountersignPending = 1 AND CountersignSeverity = 'WARN' AND CountersignRequester = 'dana' AND CountersignSourceTool = 'SQLDryRun' AND CountersignTenant = 'default' AND CountersignTitle = 'UPDATE items: 1 row' AND TaskQueue = 'countersign-review${system.suffix}'`;
  const found = await listed(query);
  expect(found).toEqual([changeId]);
});

/** Polls, because visibility is updated asynchronously. */
async function listed(query: string): Promise<string[]> {
  return await eventually(
    `a workflow that matches ${query}`,
    async () => {
      const ids: string[] = [];
      for await (const { workflowId } of system.temporal.workflow.list({ query })) ids.push(workflowId);
      return ids.length > 0 && ids;
    },
    { everyMs: 100 },
  );
}

test('a refused answer is in the details and the memo with why, as a claim', async () => {
  const { violations, fingerprint } = await system.waiting(changeId);
  const violationId = violations[0]?.violationId;
  const forged = { violationId, fingerprint, decision: 'confirm', reason: 'trust me', actor: 'alice' };
  await handle().executeUpdate('answer', { args: [{ answers: [forged] }] });
  expect(await currentDetails()).toMatch(
    /Refused, without effect[^\n]*\n\n- `alice: confirm guardian\.llm_judge`, `unsigned_not_accepted: /,
  );
  const { memo } = await handle().describe();
  expect(memo?.['title']).toBe('UPDATE items: 1 row');
  expect(memo?.['refused']).toEqual([
    expect.stringContaining('alice: confirm guardian.llm_judge, unsigned_not_accepted'),
  ]);
});

test('every activity and every timer in the history has a summary, and the details show the outcome', async () => {
  await system.answer(changeId, 'alice', 'confirm');
  await system.ended(changeId);
  // The ledger has the end before the workflow has ended.
  await handle().result();
  const { events } = await handle().fetchHistory();
  const scheduled = (events ?? []).filter(
    (e) =>
      e.activityTaskScheduledEventAttributes != null ||
      e.timerStartedEventAttributes != null ||
      e.markerRecordedEventAttributes != null,
  );
  expect(scheduled.length).toBeGreaterThan(5);
  expect(scheduled.map((e) => text(e.userMetadata?.summary)).filter((summary) => summary === '')).toEqual([]);
  const summaries = scheduled.map((e) => text(e.userMetadata?.summary));
  for (const part of [
    'plan, requester and rules',
    'dry run',
    'test-judge',
    '1 violation',
    'alice: confirm guardian.llm_judge, to be verified',
    'commit',
  ])
    expect(summaries).toContain(part);
  expect(summaries.some((s) => s.startsWith('deadline '))).toBe(true);
  const details = await currentDetails();
  expect(details).toMatch(/^\*\*COMMITTED\*\*/);
  expect(details).toMatch(/- `alice`: confirm `guardian\.llm_judge`, `confirm by alice`, \d{4}-/);
  const { memo } = await handle().describe();
  expect(memo?.['answers']).toEqual([expect.stringMatching(/^alice: confirm guardian\.llm_judge, confirm by alice, /)]);
  expect(memo?.['outcome']).toMatch(/^COMMITTED: /);
  // The first refusal wrote title, answers and refusals; then only what changed is written.
  const written = (events ?? []).flatMap(({ workflowPropertiesModifiedEventAttributes: modified }) =>
    modified == null ? [] : [Object.keys(modified.upsertedMemo?.fields ?? {}).sort()],
  );
  expect(written).toEqual([
    ['answers', 'refused', 'title'],
    ['answers', 'outcome'],
  ]);
  expect(
    await listed(`CountersignStatus = 'COMMITTED' AND CountersignPending = 0 AND WorkflowId = '${changeId}'`),
  ).toEqual([changeId]);
});

test('the activities of all workers are in one trace derived from the change id, and no span contains the diff', () => {
  const own = spans.getFinishedSpans().filter((span) => span.spanContext().traceId === changeId.slice(0, 32));
  expect(own.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['openReview', 'stage', 'askJudge', 'disclose', 'admitAnswer', 'commit']),
  );
  expect(new Set(own.map(({ parentSpanContext }) => parentSpanContext?.spanId))).toEqual(
    new Set([changeId.slice(32, 48)]),
  );
  expect(own[0]?.attributes).toMatchObject({ 'countersign.change': changeId, 'temporal.activity.attempt': 1 });
  expect(JSON.stringify(own.map(({ attributes, status, events }) => [attributes, status, events]))).not.toMatch(SECRET);
});
