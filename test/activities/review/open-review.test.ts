import { isStatic } from '../../../policy/contracts/readings';
import { changeId as changeIdOf } from '../../../policy/contracts/change-id';
import { createOpeningActivities, type OpeningDeps } from '../../../activities/review/open-review';
import type { Opened } from '../../../activities/review-types';
import { fromReported } from '../../../policy/decide/reported';
import { openEnvelope } from '../../../policy/evidence/dsse';
import { testKey, testRegistry, type TestKey } from '../../support/keys';
import { memoryLedger } from '../../support/memory-ledger';
import { ReviewWorld, type WorldOptions } from '../../support/review/review-world';

const LIMITED = '\n  - pack: demo-pack\n  - aggregate: { name: split, window: 1h, limits: { changes: 3 } }';

/** One change, before and after publication of a policy with a larger quorum. */
function published(validators?: string): { readonly before: ReviewWorld; readonly after: ReviewWorld } {
  const given = validators === undefined ? {} : { validators };
  const before = new ReviewWorld({ text: 'clean', bundle: given });
  const policies = '\n  - { key: two, name: Two, quorum: 2 }';
  const after = new ReviewWorld({ text: 'clean', ledger: before.ledger, bundle: { ...given, policies } });
  expect([after.changeId, after.planHash === before.planHash]).toEqual([before.changeId, false]);
  return { before, after };
}

async function openAgain(
  { before, after }: ReturnType<typeof published>,
  more: Partial<OpeningDeps> = {},
): ReturnType<ReturnType<typeof createOpeningActivities>['openReview']> {
  await before.store.put(before.submission.tenant, before.raw);
  const plans = {
    current: () => after.plans.byHash(after.planHash),
    byHash: (planHash: string) => (planHash === before.planHash ? before : after).plans.byHash(planHash),
  };
  const { changeId, submission } = before;
  return createOpeningActivities({ ...before.deps, plans, ...more }).openReview({
    changeId,
    submission,
  });
}

async function plansOfRecords(world: ReviewWorld): Promise<string[]> {
  return (await world.rows()).flatMap(({ row }) => {
    const envelope = row.kind === 'attested' ? openEnvelope('attested', row.body['envelope']) : null;
    return envelope?.ok === true ? [envelope.statement.predicate.planHash] : [];
  });
}

describe.each([
  ['a plan', undefined],
  ['a plan with a limit over many changes', LIMITED],
])('%s', (_name, validators) => {
  test('stays pinned if the opening is retried after a newer one was published, and nothing is written [P10]', async () => {
    const both = published(validators);
    const first = await both.before.open();
    const rows = await both.before.rows();
    both.before.pass(5);
    expect(await openAgain(both)).toEqual(first);
    expect(await both.before.rows()).toEqual(rows);
  });

  test('stays pinned if a concurrent attempt pinned it while this one used a newer one, and no record binds the newer one [P10]', async () => {
    const both = published(validators);
    // Read after the ledger was read and before anything is appended.
    const others: Awaited<ReturnType<ReviewWorld['open']>>[] = [];
    const snapshot = async () => {
      if (others.length === 0) others.push(await both.before.open());
      return await both.before.registry.snapshot();
    };
    const again = await openAgain(both, { keys: { snapshot } });
    expect([again]).toEqual(others);
    const records = await plansOfRecords(both.before);
    expect([records.length > 1, new Set(records)]).toEqual([true, new Set([both.before.planHash])]);
  });
});

test('keeps the plan of an opened change even if the newest policy has none for its target [P10]', async () => {
  const both = published();
  const first = await both.before.open();
  const plans = { ...both.before.plans, current: () => Promise.reject(new Error('no plan for shop')) };
  expect(await openAgain(both, { plans })).toEqual(first);
});

test('accepts a service key that is newer than the cached registry, and refuses one that is in neither', async () => {
  const open = async (current: (world: ReviewWorld) => OpeningDeps['keys']) => {
    const world = new ReviewWorld();
    await world.store.put(world.submission.tenant, world.raw);
    const snapshot: OpeningDeps['keys']['snapshot'] = (maxAgeMs) =>
      (maxAgeMs === 0 ? current(world) : testRegistry()).snapshot();
    const { changeId, submission } = world;
    return createOpeningActivities({ ...world.deps, keys: { snapshot } }).openReview({ changeId, submission });
  };
  expect(await open(({ registry }) => registry)).toMatchObject({ requester: expect.any(String) });
  await expect(open(() => testRegistry())).rejects.toMatchObject({ type: 'VALIDATION_ERROR', nonRetryable: true });
});

test('refuses metadata that may not become part of the effect, with the name of the member, and opens nothing', async () => {
  const world = new ReviewWorld();
  const tool = {
    ...world.target.tool,
    effectMetadata: { members: { note: () => 'it is too bold' }, refused: ['author'] },
  };
  const tools = { get: () => tool, keys: () => [] };
  for (const member of ['note', 'author']) {
    const submission = { ...world.submission, metadata: { [member]: 'x' } };
    delete submission.envelope;
    await world.store.put(submission.tenant, world.raw);
    const opening = createOpeningActivities({ ...world.deps, tools }).openReview({
      changeId: changeIdOf(submission),
      submission,
    });
    await expect(opening).rejects.toMatchObject({
      type: 'VALIDATION_ERROR',
      message: expect.stringMatching(`^metadata.${member}: it `),
      details: [{ field: `metadata.${member}` }],
    });
  }
  expect(world.ledger.all).toHaveLength(0);
});

test('refuses a submission whose metadata lacks what its dry run needs, and names the member; without a dry run it opens', async () => {
  const needs = (value: unknown): string | null => (value === 'b' ? null : 'expected "b"');
  const open = async (metadata: object, mode = 'enforced') => {
    const world = new ReviewWorld();
    const effectMetadata = { members: { base: needs }, refused: [], required: ['base'] };
    const tools = { get: () => ({ ...world.target.tool, effectMetadata }), keys: () => [] };
    const submission = { ...world.submission, metadata: { ...metadata } };
    delete submission.envelope;
    await world.store.put(submission.tenant, world.raw);
    const pinned = { ...(await world.deps.plans.current('', '')) };
    const plan = { ...pinned, plan: { ...pinned.plan, mode: mode as 'enforced' } };
    const plans = { current: async () => plan, byHash: async () => plan };
    const input = { changeId: changeIdOf(submission), submission };
    return await createOpeningActivities({ ...world.deps, plans, tools }).openReview(input);
  };
  for (const metadata of [{}, { base: null }, { base: 'a' }])
    await expect(open(metadata)).rejects.toMatchObject({
      type: 'VALIDATION_ERROR',
      nonRetryable: true,
      message: expect.stringMatching(/^metadata\.base: (missing; )?expected "b"\. /),
    });
  await expect(open({ base: 'b' })).resolves.toMatchObject({ openedAt: expect.any(String) });
  await expect(open({}, 'cooperative')).resolves.toMatchObject({ openedAt: expect.any(String) });
});

test('opens a review whose guardians cannot run yet, without results of them, and with all results on a retry', async () => {
  const world = new ReviewWorld({ text: 'HOLD' });
  const ids = async (opened: Promise<Opened>): Promise<string[]> =>
    Object.keys(fromReported(world.plan, (await opened).reported));
  const attested = ['guardian.previously_rejected', 'guardian.circuit_open'];
  expect(await ids(world.openUnguarded())).toEqual(attested);
  expect(await ids(world.open())).toEqual(attested);
  await world.guard();
  const guarded = world.plan.validators.flatMap((v) => (isStatic(v) && v.unit !== 'builtin' ? [v.id] : []));
  expect((await ids(world.open())).toSorted()).toEqual([...guarded, ...attested].toSorted());
});

test('opens no review while an operator has revoked the key of this worker, and opens it once the worker has another', async () => {
  const world = new ReviewWorld();
  world.reregister(world.keys.attestor, { revokedAt: world.at() });
  await expect(world.open()).rejects.toMatchObject({
    type: 'ErrValidatorBackend',
    nonRetryable: false,
    message: expect.stringContaining(world.keys.attestor.keyId),
  });
  expect(world.ledger.all).toHaveLength(0);
  world.keys.attestor = testKey('attestor', 'review-worker');
  world.registered = [...world.registered, world.keys.attestor];
  await world.confirmed();
  expect(await world.commit()).toMatchObject({ state: 'COMMITTED' });
});

test.each([
  ['before', [['a', 3]]],
  [
    'in 2 reviews before',
    [
      ['a', 3],
      ['a', 2],
      ['b', 2],
    ],
  ],
] as const)(
  'names each review in which the same change was rejected once, regardless of its number of rejects: %s',
  async (times, given) => {
    const rejects = given.map(([id, n]) => ({ changeId: id.repeat(64), n, at: '2026-11-01T00:00:00.000Z' }));
    const world = new ReviewWorld({
      text: 'clean',
      ledger: { ...memoryLedger(), rejectedInputs: async () => rejects },
    });
    const { reported } = await world.open();
    expect(fromReported(world.plan, reported)['guardian.previously_rejected']).toMatchObject({
      reason: `The same change was rejected ${times}, last at 2026-11-01T00:00:00.000Z`,
      evidenceRefs: [...new Set(given.map(([id]) => `review:${id.repeat(64)}`))],
    });
  },
);

describe('a change in `supersedes`', () => {
  const OTHER_REQUESTER = testKey('service', 'other-bot', { onBehalfOf: 'someone-else' });
  const first = new ReviewWorld({ requestKey: 'first' });
  beforeAll(() => first.open());

  function second(signedBy: TestKey | null, supersedes: string, options: WorldOptions = {}): ReviewWorld {
    const world = new ReviewWorld({ ledger: first.ledger, requestKey: 'second', signedBy: 'none', ...options });
    world.registered = [...world.registered, OTHER_REQUESTER];
    world.submission = { ...world.submission, supersedes };
    if (signedBy !== null) world.submission = { ...world.submission, envelope: world.signSubmission(signedBy) };
    return world;
  }

  test.each<[string, ReviewWorld, string]>([
    ['another requester', second(OTHER_REQUESTER, first.changeId), 'is not by the requester of this change'],
    ['a requester who did not sign', second(null, first.changeId), 'is not by the requester of this change'],
    ['another tenant', second(first.keys.service, first.changeId, { tenant: 'other' }), 'is for another tenant'],
    ['another tool', second(first.keys.service, first.changeId, { sourceTool: 'Refund' }), 'is for another sourceTool'],
  ])('that is of %s is refused, and nothing is opened', async (_whose, world, why) => {
    await expect(world.open()).rejects.toMatchObject({
      type: 'VALIDATION_ERROR',
      nonRetryable: true,
      message: expect.stringMatching(new RegExp(`^supersedes: expected .*${first.changeId}.*${why}`)),
      details: [expect.objectContaining({ field: 'supersedes' })],
    });
    expect(await world.rows()).toEqual([]);
  });

  test('that is of the same requester, or not opened yet, is accepted', async () => {
    const { service } = first.keys;
    await expect(second(service, first.changeId).open()).resolves.toMatchObject({ requester: 'rita' });
    const unknown = second(service, '9'.repeat(64), { requestKey: 'third' });
    await expect(unknown.open()).resolves.toMatchObject({ requester: 'rita' });
  });
});
