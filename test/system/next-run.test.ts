import { newKeyPair } from '../../signing/keys';
import type { ReviewStatus } from '../../policy/contracts/status';
import { queryWorkflow } from '../../dev/query-workflow';
import { SHOP } from '../support/shop-bundle';
import { eventually } from '../support/eventually';
import { RUN_ALL } from '../support/extent';
import { useSystem, type TestKey } from '../support/system';
import { PRICE } from './scenarios';

const system = useSystem({ ...SHOP, name: 'nextrun' });
jest.setTimeout(400_000);

const handle = (changeId: string) => system.temporal.workflow.getHandle(changeId);
const runOf = async (changeId: string): Promise<string> => (await handle(changeId).describe()).runId;

/** Events after which a review continues as a new run. */
const LONG = 1_500;
/** Signals until the history is long, then waits until the review has continued as a new run: it does so in a pause between messages. */
async function flood(changeId: string): Promise<void> {
  const first = await runOf(changeId);
  while ((await handle(changeId).describe()).historyLength < LONG && (await runOf(changeId)) === first)
    await Promise.all(
      Array.from({ length: 200 }, (_, i) => handle(changeId).signal(i % 2 === 0 ? 'look_again' : 'other')),
    );
  // The last workflow task may have begun with fewer events than it left; the review sees the rest with its next message.
  await handle(changeId).signal('other');
  await eventually('the review continues as a new run', async () => (await runOf(changeId)) !== first, {
    everyMs: 100,
    withinMs: 180_000,
  });
}

test('a review whose history is long continues as a new run, with its violations and the answers that it has', async () => {
  const { changeId } = await system
    .client(null)
    .submit({ ...PRICE(20, 1, 700), target: 'shop', requestKey: system.suffix });
  const before = await system.waiting(changeId);
  // A change of an unknown requester needs two people.
  await system.answer(changeId, 'alice', 'confirm');
  await flood(changeId);
  const after = await queryWorkflow<{ fingerprint: string; violations: unknown[]; state: string }>(
    handle(changeId),
    'status',
  );
  expect(after).toMatchObject({ fingerprint: before.fingerprint, state: 'INTERVENTION_REQUIRED' });
  expect(after.violations).toMatchObject([{ resolution: 'pending', confirmedBy: ['alice'] }]);
  await system.answer(changeId, 'bob', 'confirm');
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
});

interface Run {
  readonly events: number;
  readonly bytes: number;
  readonly signals: number;
}

/** All runs of a review, from the first one. */
async function runsOf(changeId: string, firstRun: string): Promise<Run[]> {
  const run = system.temporal.workflow.getHandle(changeId, firstRun);
  const [{ events }, { historySize }] = await Promise.all([run.fetchHistory(), run.describe()]);
  const all = events ?? [];
  const signals = all.filter((event) => event.workflowExecutionSignaledEventAttributes != null).length;
  const next = all.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  const later = next == null || next === '' ? [] : await runsOf(changeId, next);
  return [{ events: all.length, bytes: historySize ?? Number.NaN, signals }, ...later];
}

// It takes a minute.
if (RUN_ALL)
  test('a review that receives 2,000 answers which are refused stays under 2,000 events and 1 MB in each run, and still waits', async () => {
    const { changeId } = await system.submit({ ...PRICE(21, 1, 700), target: 'shop' });
    const status = await system.waiting(changeId);
    const first = await runOf(changeId);
    for (let sender = 0; sender < 40; sender++) {
      const stranger: TestKey = {
        ...newKeyPair(),
        kind: 'approver',
        subject: { type: 'person', id: 'mallory' },
        onBehalfOf: null,
        demo: true,
      };
      const answers = system.sign(status, stranger, 'confirm');
      await Promise.all(Array.from({ length: 50 }, () => handle(changeId).signal('answer', { answers })));
      // People do not answer faster than a review refuses.
      await eventually('the review has handled the answers', () => isIdle(changeId), { everyMs: 50, withinMs: 60_000 });
    }
    const runs = await runsOf(changeId, first);
    expect(runs.reduce((sum, { signals }) => sum + signals, 0)).toBe(2_000);
    expect(runs.length).toBeGreaterThan(1);
    for (const { events, bytes } of runs) {
      expect(events).toBeLessThan(2_000);
      expect(bytes).toBeLessThan(1_000_000);
    }
    // Answers are refused for the rest of the hour (message-bounds.ts), but the state of the review is whole.
    const { state, fingerprint } = await queryWorkflow<ReviewStatus>(handle(changeId), 'status');
    expect({ state, fingerprint }).toEqual({ state: 'INTERVENTION_REQUIRED', fingerprint: status.fingerprint });
  });

async function isIdle(changeId: string): Promise<boolean> {
  const { raw } = await handle(changeId).describe();
  return (raw.pendingActivities ?? []).length === 0 && raw.pendingWorkflowTask == null;
}
