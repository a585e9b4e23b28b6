import type { Submission } from '../../../policy/contracts/diff';
import type { RawOutcome } from '../../../policy/decide/findings';
import { failureType } from '../../support/review/failure-type';
import { reviewActivities } from '../../support/review/review-deps';
import { ReviewWorld } from '../../support/review/review-world';

const OTHER = 'f'.repeat(64);

const disclose = (world: ReviewWorld, unrecorded: Readonly<Record<string, RawOutcome>> = {}) =>
  reviewActivities(world.deps).disclose({ changeId: world.changeId, stagingSha: null, unrecorded });

/** The activities whose input names a change by its id only. Anyone who can schedule them chooses it, and adds what they like. */
const ACTIVITIES: Readonly<Record<string, (world: ReviewWorld, forged: object) => Promise<unknown>>> = {
  runGuardians: ({ deps, changeId }, forged) =>
    reviewActivities(deps).runGuardians({ ...forged, changeId, unit: 'demo-pack' }),
  stage: ({ deps, changeId }, forged) => reviewActivities(deps).stage({ ...forged, changeId }),
  disclose: ({ deps, changeId }, forged) =>
    reviewActivities(deps).disclose({ ...forged, changeId, stagingSha: null, unrecorded: {} }),
};

describe.each(Object.entries(ACTIVITIES))('%s', (_name, run) => {
  test.each<readonly [string, Partial<Submission>]>([
    ['metadata', { metadata: { affected_rows: 1 } }],
    ['tenant', { tenant: 'other' }],
    ['target', { target: 'other' }],
    ['sourceTool', { sourceTool: 'Refund' }],
    ['diffSha', { diffSha: OTHER }],
    ['requestKey', { requestKey: 'again' }],
  ])('refuses rows with another %s than the change id was computed from [P8]', async (_member, over) => {
    const world = new ReviewWorld({ text: 'HOLD' });
    const { inputSha, planHash, submission } = world;
    const at = world.at();
    await world.ledger.append(world.changeId, [
      {
        kind: 'submitted',
        at,
        factKey: 'submitted',
        body: { submission: { ...submission, ...over } as never, inputSha },
      },
      { kind: 'planned', at, factKey: 'planned', body: { planHash } },
    ]);
    expect(await failureType(run(world, {}))).toBe('DIGEST_MISMATCH');
    expect(await world.kinds()).toEqual(['submitted', 'planned']);
  });
});

test('the static guardians and the dry run take the change from its rows, whatever else their input says [P8]', async () => {
  const [world, other] = [new ReviewWorld({ text: 'HOLD' }), new ReviewWorld({ text: 'clean', metadata: { a: 1 } })];
  await world.open();
  await world.store.put('acme', other.raw);
  const expected = await reviewActivities(world.deps).runGuardians({ changeId: world.changeId, unit: 'demo-pack' });
  expect(Object.keys(expected.results)).toContain('guardian.demo_hold');
  const forged = { ...other.ref, submission: other.submission, planHash: OTHER };
  expect(await ACTIVITIES['runGuardians']?.(world, forged)).toEqual(expected);
  const staged = await ACTIVITIES['stage']?.(world, forged);
  expect(staged).toEqual(await world.stage());
  expect(staged).toMatchObject({ kind: 'staged' });
});

describe.each(['intent', 'decided', 'closed'] as const)('after the row %s', (kind) => {
  const ended = async (): Promise<ReviewWorld> => {
    const world = new ReviewWorld({ text: 'HOLD' });
    await world.open();
    await world.ledger.append(world.changeId, [{ kind, at: world.clock().toISOString(), factKey: kind, body: {} }]);
    return world;
  };

  test('stage rehearses nothing, and the refusal is recorded [P8]', async () => {
    const world = await ended();
    expect(await world.stage()).toMatchObject({ kind: 'refused', explanation: expect.stringContaining('has ended') });
    expect([world.stagingRecords.size, (await world.kinds()).at(-1)]).toEqual([0, 'refused']);
  });

  test('the static guardians do not run, and nothing is recorded [P8]', async () => {
    const world = await ended();
    const rows = (await world.rows()).length;
    expect(await failureType(ACTIVITIES['runGuardians']?.(world, {}) ?? Promise.resolve())).toBe('VALIDATION_ERROR');
    expect(await world.rows()).toHaveLength(rows);
  });

  test('disclose runs no callback, and the refusal is recorded [P8]', async () => {
    const world = await ended();
    expect(await failureType(disclose(world))).toBe('VALIDATION_ERROR');
    expect((await world.rows()).at(-1)?.row.body).toMatchObject({ check: 'disclose: ended' });
    expect(await world.kinds()).not.toContain('disclosed');
  });
});

test.each([{}, { violations: 'none' }, { violations: [{}], fingerprint: 'x', callbackResults: {} }])(
  'disclose fails permanently if another row was disclosed that cannot be read: %j',
  async (body) => {
    const world = new ReviewWorld({ text: 'HOLD' });
    await world.open();
    const at = world.clock().toISOString();
    await world.guard();
    await world.stage();
    await world.judged({ status: 'ALLOW' });
    await world.ledger.append(world.changeId, [{ kind: 'disclosed', at, factKey: 'disclosed', body }]);
    expect(await failureType(world.disclose())).toBe('CONFIGURATION_ERROR');
  },
);

test('disclose refuses a change without the findings of its dry run, and records the refusal in the ledger', async () => {
  const world = new ReviewWorld({ text: 'HOLD' });
  await world.open();
  await world.guard();
  expect(await failureType(disclose(world))).toBe('VALIDATION_ERROR');
  expect((await world.rows()).at(-1)?.row.body).toMatchObject({ check: 'disclose: findings' });
});

test.each([
  ['ALLOW for all validators', { kind: 'result', result: { status: 'ALLOW', reason: '', evidenceRefs: [] } }],
  ['that all validators were skipped', { kind: 'skipped', reasonCode: 'judge_when' }],
])('disclose does not take the word of a workflow: %s', async (_what, outcome) => {
  const world = new ReviewWorld({ text: 'HOLD' });
  await world.open();
  await world.guard();
  const unrecorded = Object.fromEntries(
    world.plan.validators.map(({ id }) => {
      const result = 'result' in outcome ? { result: { ...outcome.result, validator_id: id } } : {};
      return [id, { ...outcome, ...result } as RawOutcome];
    }),
  );
  expect(await failureType(disclose(world, unrecorded))).toBe('VALIDATION_ERROR');
  expect(await world.kinds()).not.toContain('disclosed');
});

describe('openReview', () => {
  const call = (world: ReviewWorld, submission: unknown): Promise<string> =>
    failureType(world.open(submission as ReviewWorld['submission']));

  test('refuses the submission of another change under this id, and records the refusal in the ledger [P8]', async () => {
    const world = new ReviewWorld({ text: 'HOLD' });
    await world.open();
    const rows = await world.rows();
    for (const edited of [
      { ...world.submission, metadata: { affected_rows: 1 } },
      { ...world.submission, diffSha: OTHER },
      { ...world.submission, requestKey: 'again' },
      { ...world.submission, tenant: 'other' },
    ])
      expect(await call(world, edited)).toBe('VALIDATION_ERROR');
    const after = (await world.rows()).slice(rows.length);
    expect(after.map(({ row }) => [row.kind, row.body['check']])).toEqual(
      Array(4).fill(['refused', 'openReview: changeId']),
    );
  });

  test('writes no row for an id under which no change was opened', async () => {
    const world = new ReviewWorld({ text: 'HOLD' });
    expect(await call(world, { ...world.submission, requestKey: 'again' })).toBe('VALIDATION_ERROR');
    expect(world.ledger.all).toEqual([]);
  });

  test('refuses an invalid submission: an extra member, a missing one, or not an object', async () => {
    const world = new ReviewWorld({ text: 'HOLD' });
    const { diffSha: _diffSha, ...less } = world.submission;
    for (const sent of [{ ...world.submission, plan: {} }, less, null, 'x'])
      expect(await call(world, sent)).toBe('VALIDATION_ERROR');
    expect(world.ledger.all).toEqual([]);
  });
});
