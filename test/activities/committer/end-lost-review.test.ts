import { endLostReview, recordRepair, resetsOf, type Repair } from '../../../activities/committer/end-lost-review';
import { canonicalJson, type JsonObject } from '../../../policy/contracts/canonical-json';
import { MAX_BODY_CHARS } from '../../../storage/database/canonical-row-sql';
import { HOLD_ID } from '../../support/review/demo-rules';
import { ReviewWorld } from '../../support/review/review-world';
import { withFindings } from '../../support/review/written-findings';

const repair: Repair = {
  found: 'terminated',
  did: 'ended',
  explanation: 'The workflow is terminated',
  runId: 'run',
  workflowType: 'review',
};
const end = (world: ReviewWorld) => endLostReview(world.deps, world.changeId, repair);
const confirmed = (): Promise<ReviewWorld> => new ReviewWorld().confirmed();

test('a review that was lost before its commit began is rolled back, and can never commit', async () => {
  const world = await confirmed();
  expect(await end(world)).toMatchObject({ state: 'ROLLED_BACK', reason: 'workflow_lost' });
  expect((await world.kinds()).slice(-6)).toEqual(['repaired', 'decided', 'effect', 'receipt', 'closed', 'head']);
  expect(await world.commit()).toMatchObject({ state: 'ROLLED_BACK', reason: 'workflow_lost' });
  expect(world.target.applied).toBe(0);
});

test('a review that was lost after its effect ends as committed, by the marker', async () => {
  const world = await confirmed();
  world.target.loses = true;
  await world.commit();
  expect(await end(world)).toMatchObject({ state: 'COMMITTED', reason: null });
  expect(world.target.applied).toBe(1);
});

test('a review that was lost between intent and effect is sealed, so that the late attempt applies nothing', async () => {
  const world = await confirmed();
  let wake = (): void => {};
  const begun = new Promise<void>((resolve) => {
    world.target.before = () => {
      resolve();
      return new Promise((go) => (wake = go));
    };
  });
  const late = world.commit();
  await begun;
  expect(await end(world)).toMatchObject({ state: 'ROLLED_BACK', reason: 'commit_failed' });
  wake();
  expect(await late).toMatchObject({ state: 'ROLLED_BACK', reason: 'commit_failed' });
  expect(world.target.applied).toBe(0);
});

test.each([
  ['cannot tell whether the change was applied', 'blind'],
  ['is not set up', 'unprepared'],
] as const)('a lost review stays open while its target %s, and then ends', async (_, trouble) => {
  const world = await confirmed();
  world.target.loses = true;
  world.target[trouble] = true;
  await world.commit();
  expect(await end(world)).toMatchObject({ state: 'EFFECT_UNKNOWN' });
  expect(await world.kinds()).not.toContain('closed');
  world.target[trouble] = false;
  expect(await end(world)).toMatchObject({ state: 'COMMITTED' });
  expect((await world.kinds()).filter((kind) => kind === 'repaired')).toHaveLength(1);
});

test('a review whose findings fill a row of the ledger ends with a receipt without findings', async () => {
  const world = new ReviewWorld();
  const append = world.ledger.append.bind(world.ledger);
  world.ledger.append = (changeId, entries, ...more) =>
    append(
      changeId,
      entries.map((entry) =>
        entry.kind === 'findings' ? { ...entry, body: filled(entry.body as JsonObject) } : entry,
      ),
      ...more,
    );
  await world.open();
  expect(await end(world)).toMatchObject({ state: 'ROLLED_BACK', reason: 'workflow_lost' });
  const receipt = (await world.rows()).find(({ row }) => row.kind === 'receipt')?.row.body;
  expect(receipt).toMatchObject({ findings: [], predicate: { findingsSha: null } });
});

/** The findings, of which one is so long that the body has the greatest length. */
function filled(body: JsonObject): JsonObject {
  const withText = (text: string): JsonObject =>
    withFindings({ kind: 'findings', body } as never, (finding) =>
      finding.validator_id === HOLD_ID ? { ...finding, details: { text } } : finding,
    ).body;
  return withText('x'.repeat(MAX_BODY_CHARS - canonicalJson(withText('')).length));
}

test('a review that has ended is returned as it ended, without a further row', async () => {
  const world = await confirmed();
  const ended = await world.commit();
  const before = await world.kinds();
  expect(await end(world)).toEqual(ended);
  expect(await world.kinds()).toEqual(before);
});

test('a change that was never opened gets no receipt', async () => {
  const world = new ReviewWorld();
  await expect(end(world)).rejects.toMatchObject({ type: 'VALIDATION_ERROR' });
  expect(await world.kinds()).toEqual([]);
});

test('each reset is recorded once for each run', async () => {
  const world = await confirmed();
  const reset: Repair = { ...repair, found: 'task_fails', did: 'reset' };
  for (const runId of ['a', 'a', 'b']) await recordRepair(world.deps, world.changeId, { ...reset, runId });
  expect(resetsOf(await world.rows()).map(({ runId }) => runId)).toEqual(['a', 'b']);
});
