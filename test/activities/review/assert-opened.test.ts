import type { ChangeRef } from '../../../activities/review-types';
import type { RawOutcome } from '../../../policy/decide/findings';
import { failureType } from '../../support/review/failure-type';
import { reviewActivities } from '../../support/review/review-deps';
import { ReviewWorld } from '../../support/review/review-world';

const OTHER = 'f'.repeat(64);

/** The activities whose input has a change id next to other members. Anyone who can schedule them chooses both. */
const ACTIVITIES: Readonly<Record<string, (world: ReviewWorld, ref: ChangeRef) => Promise<unknown>>> = {
  runGuardians: (world, ref) => reviewActivities(world.deps).runGuardians({ ...ref, unit: 'demo-pack' }),
  stage: (world, ref) => reviewActivities(world.deps).stage(ref),
  disclose: (world, ref) => {
    return reviewActivities(world.deps).disclose({ ...ref, stagingSha: null, unrecorded: {} });
  },
};

describe.each(Object.keys(ACTIVITIES))('%s', (name) => {
  const call = (world: ReviewWorld, over: Partial<ChangeRef>): Promise<string> =>
    failureType(ACTIVITIES[name]?.(world, { ...world.ref, ...over }) ?? Promise.reject(new Error(name)));
  const staged = (world: ReviewWorld): number => world.stagingRecords.size;

  test('refuses the input of another change, even if its hashes are consistent, and records the refusal in the ledger [P8]', async () => {
    const [world, other] = [new ReviewWorld({ text: 'HOLD' }), new ReviewWorld({ text: 'clean' })];
    await world.open();
    await world.store.put('acme', other.raw);
    const rows = (await world.rows()).length;
    const { inputSha, diffSha } = other.ref;
    expect(await call(world, { inputSha, diffSha })).toBe('DIGEST_MISMATCH');
    expect(await call(world, { inputSha, diffSha })).toBe('DIGEST_MISMATCH');
    const after = (await world.rows()).slice(rows);
    expect(after.map(({ row }) => [row.kind, row.body['check']])).toEqual([['refused', `${name}: inputSha`]]);
    expect(staged(world)).toBe(0);
  });

  test.each<readonly [string, Partial<ChangeRef>]>([
    ['metadata', { metadata: { affected_rows: 1 } }],
    ['tenant', { tenant: 'other' }],
    ['target', { target: 'other' }],
    ['sourceTool', { sourceTool: 'Refund' }],
    ['diffSha', { diffSha: OTHER }],
    ['inputSha', { inputSha: OTHER }],
    ['planHash', { planHash: OTHER }],
  ])('refuses another %s than the change was opened with', async (_member, over) => {
    const world = new ReviewWorld({ text: 'HOLD' });
    await world.open();
    expect(await call(world, over)).toBe('DIGEST_MISMATCH');
    expect((await world.kinds()).at(-1)).toBe('refused');
  });

  test('writes no row for an id under which no change was opened', async () => {
    const world = new ReviewWorld({ text: 'HOLD' });
    await world.store.put('acme', world.raw);
    expect(await call(world, {})).toBe('VALIDATION_ERROR');
    expect(world.ledger.all).toEqual([]);
  });
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

  test('disclose runs no callback, and the refusal is recorded [P8]', async () => {
    const world = await ended();
    expect(await failureType(ACTIVITIES['disclose']?.(world, world.ref) ?? unreachable())).toBe('VALIDATION_ERROR');
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
  expect(await failureType(ACTIVITIES['disclose']?.(world, world.ref) ?? unreachable())).toBe('VALIDATION_ERROR');
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
  const input = { ...world.ref, stagingSha: null, unrecorded };
  expect(await failureType(reviewActivities(world.deps).disclose(input))).toBe('VALIDATION_ERROR');
  expect(await world.kinds()).not.toContain('disclosed');
});

function unreachable(): never {
  throw new Error('no such activity');
}

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
