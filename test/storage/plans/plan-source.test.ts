import { createPlanSource, type PlanSourceDeps } from '../../../storage/plans/plan-source';
import { storedRevisions } from '../../../storage/plans/stored-revisions';
import type { Envelope } from '../../../policy/contracts/diff';
import type { PolicyRevision, PolicyRevocation } from '../../../policy/evidence/predicates';

const PLAN = 'a'.repeat(64);
const ENVELOPE = { payloadType: 'x', payload: '', signatures: [] } as unknown as Envelope;

it('a revocation takes effect immediately for `now`, though the cached snapshot still has the plan', async () => {
  let revoked: readonly Envelope[] = [];
  const revision = { revision: 1, plans: [{ target: 'shop', sourceTool: 'SQLCAS', planHash: PLAN }] };
  const source = createPlanSource({
    revisions: { list: async () => [{ envelope: ENVELOPE, bundleText: '' }], revocations: async () => revoked },
    verifyRevision: () => revision as unknown as PolicyRevision,
    verifyRevocation: () => ({ revision: 1 }) as unknown as PolicyRevocation,
    compile: () => ({ plan: {}, planHash: PLAN }) as unknown as ReturnType<PlanSourceDeps['compile']>,
    now: () => 1_000,
  });
  await expect(source.byHash(PLAN, 'now')).resolves.toMatchObject({ planHash: PLAN });
  revoked = [ENVELOPE];
  await expect(source.byHash(PLAN)).resolves.toMatchObject({ planHash: PLAN });
  await expect(source.byHash(PLAN, 'now')).rejects.toMatchObject({ type: 'policy_moved' });
});

it('reads revisions again only for a plan that could have been revoked since, or that it does not know', async () => {
  const read: string[] = [];
  let now = 0;
  let revoked: readonly Envelope[] = [];
  const revision = { revision: 1, plans: [{ target: 'shop', sourceTool: 'SQLCAS', planHash: PLAN }] };
  const source = createPlanSource({
    revisions: {
      list: async () => (read.push('list'), [{ envelope: ENVELOPE, bundleText: '' }]),
      revocations: async () => (read.push('revocations'), revoked),
    },
    verifyRevision: () => revision as unknown as PolicyRevision,
    verifyRevocation: () => ({ revision: 1 }) as unknown as PolicyRevocation,
    compile: () => ({ plan: {}, planHash: PLAN }) as unknown as ReturnType<PlanSourceDeps['compile']>,
    now: () => (now += 60_000),
  });
  const readFor = async (ask: () => Promise<unknown>) => {
    const before = read.length;
    await ask();
    return read.slice(before);
  };
  expect(await readFor(() => source.byHash(PLAN))).toEqual(['list', 'revocations']);
  expect(await readFor(() => source.byHash(PLAN, 'ignored'))).toEqual([]);
  expect(await readFor(() => source.byHash(PLAN, 'now'))).toEqual(['revocations']);
  revoked = [ENVELOPE];
  await expect(source.byHash(PLAN, 'now')).rejects.toMatchObject({ type: 'policy_moved' });
  await expect(source.byHash(PLAN)).rejects.toMatchObject({ type: 'policy_moved' });
  expect(await readFor(() => source.byHash(PLAN, 'ignored'))).toEqual([]);
});

it('uses revocations for one second from when it began to read them, however long the reading took', async () => {
  let now = 0;
  let revoked: readonly Envelope[] = [];
  const revision = { revision: 1, plans: [{ target: 'shop', sourceTool: 'SQLCAS', planHash: PLAN }] };
  const source = createPlanSource({
    revisions: {
      list: async () => ((now += 900), [{ envelope: ENVELOPE, bundleText: '' }]),
      revocations: async () => revoked,
    },
    verifyRevision: () => revision as unknown as PolicyRevision,
    verifyRevocation: () => ({ revision: 1 }) as unknown as PolicyRevocation,
    compile: () => ({ plan: {}, planHash: PLAN }) as unknown as ReturnType<PlanSourceDeps['compile']>,
    now: () => now,
  });
  await source.byHash(PLAN);
  revoked = [ENVELOPE];
  now += 99;
  await expect(source.byHash(PLAN)).resolves.toMatchObject({ planHash: PLAN });
  now += 1;
  await expect(source.byHash(PLAN)).rejects.toMatchObject({ type: 'policy_moved' });
});

it('a bundle that is published again has the same plan and the number of each of its revisions', async () => {
  const plans = { 1: PLAN, 2: 'b'.repeat(64), 3: PLAN } as const;
  const published: Envelope[] = [];
  const publish = (revision: keyof typeof plans): void =>
    void published.push({ ...ENVELOPE, payload: String(revision) });
  let now = 0;
  const source = createPlanSource({
    revisions: {
      list: async () => published.map((envelope) => ({ envelope, bundleText: envelope.payload })),
      revocations: async () => [],
    },
    verifyRevision: ({ payload }) => {
      const revision = Number(payload) as keyof typeof plans;
      const entry = { target: 'shop', sourceTool: 'SQLCAS', planHash: plans[revision] };
      return { revision, plans: [entry] } as unknown as PolicyRevision;
    },
    verifyRevocation: () => null,
    compile: (text) =>
      ({ plan: {}, planHash: plans[Number(text) as keyof typeof plans] }) as unknown as ReturnType<
        PlanSourceDeps['compile']
      >,
    now: () => (now += 60_000),
  });
  for (const revision of [1, 2, 3] as const) {
    publish(revision);
    await expect(source.current('shop', 'SQLCAS')).resolves.toMatchObject({ planHash: plans[revision], revision });
  }
  for (const revision of [1, 3, 1])
    await expect(source.byHash(PLAN, 'now', revision)).resolves.toMatchObject({ planHash: PLAN, revision });
  await expect(source.byHash(PLAN)).resolves.toMatchObject({ revision: 3 });
});

it('finds the plan of a revision that was published after the cached read, and refuses one that no revision has', async () => {
  const SECOND = 'b'.repeat(64);
  const published: Envelope[] = [ENVELOPE];
  let reads = 0;
  const source = createPlanSource({
    revisions: {
      list: async () => {
        reads += 1;
        return published.map((envelope) => ({ envelope, bundleText: envelope.payload }));
      },
      revocations: async () => [],
    },
    verifyRevision: ({ payload }) =>
      ({
        revision: payload === '' ? 1 : 2,
        plans: [{ target: 'shop', sourceTool: 'SQLCAS', planHash: payload === '' ? PLAN : SECOND }],
      }) as unknown as PolicyRevision,
    verifyRevocation: () => null,
    compile: (text) =>
      ({ plan: {}, planHash: text === '' ? PLAN : SECOND }) as unknown as ReturnType<PlanSourceDeps['compile']>,
    now: () => 1_000,
  });
  await expect(source.current('shop', 'SQLCAS')).resolves.toMatchObject({ revision: 1 });
  await expect(source.byHash(SECOND)).rejects.toMatchObject({ type: 'policy_moved' });
  published.unshift({ ...ENVELOPE, payload: 'second' });
  await expect(source.byHash(SECOND, 'lately', 2)).resolves.toMatchObject({ planHash: SECOND, revision: 2 });
  const before = reads;
  await expect(source.byHash(SECOND, 'lately', 2)).resolves.toMatchObject({ revision: 2 });
  expect(reads).toBe(before);
  await expect(source.byHash('c'.repeat(64))).rejects.toMatchObject({ type: 'policy_moved' });
});

it('fails instead of returning only some revocations if there are more rows than it reads', async () => {
  const table = (count: number) =>
    storedRevisions({
      query: async (_text: string, values: readonly unknown[] = []) => ({
        rows: Array.from({ length: Math.min(count, Number(values[0])) }, () => ({ envelope: ENVELOPE })),
      }),
    } as never);
  await expect(table(1_000).revocations()).resolves.toHaveLength(1_000);
  await expect(table(1_001).revocations()).rejects.toMatchObject({ type: 'CONFIGURATION_ERROR' });
});
