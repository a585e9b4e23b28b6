import { createPlanSource, type PlanSource, type PlanSourceDeps } from '../../../storage/plans/plan-source';
import { storedRevisions } from '../../../storage/plans/stored-revisions';
import type { Envelope } from '../../../policy/contracts/diff';
import type { PolicyRevision, PolicyRevocation } from '../../../policy/evidence/predicates';

const AT = '2026-02-01T00:00:00.000Z';
const PLAN = 'a'.repeat(64);
const SECOND = 'b'.repeat(64);
/** Two revisions have the same plan. */
const PLANS: Readonly<Record<string, string>> = { 1: PLAN, 2: SECOND, 3: PLAN };

/** What an operator signed about a revision, for this test its number. */
const signed = (revision: number): Envelope => ({ payloadType: 'x', payload: String(revision), signatures: [] });

/** Revisions with one plan each, of which all signatures are valid. */
function sourceOf(
  list: () => readonly Envelope[],
  revocations: () => readonly Envelope[],
  now: () => number,
): PlanSource {
  return createPlanSource({
    revisions: {
      list: async () => list().map((envelope) => ({ envelope, bundleText: envelope.payload, storedAt: AT })),
      revocations: async () => revocations().map((envelope) => ({ envelope, storedAt: AT })),
    },
    verifyRevision: ({ envelope: { payload } }) => {
      const plans = [{ target: 'shop', sourceTool: 'SQLCAS', planHash: PLANS[payload] }];
      return { revision: Number(payload), plans } as PolicyRevision;
    },
    verifyRevocation: ({ envelope: { payload } }) => ({ revision: Number(payload) }) as PolicyRevocation,
    compile: (text) => ({ plan: {}, planHash: PLANS[text] }) as ReturnType<PlanSourceDeps['compile']>,
    now,
  });
}

it('a revocation takes effect immediately for `now`, though the cached snapshot still has the plan', async () => {
  let revoked: readonly Envelope[] = [];
  const source = sourceOf(
    () => [signed(1)],
    () => revoked,
    () => 1_000,
  );
  await expect(source.byHash(PLAN, 'now')).resolves.toMatchObject({ planHash: PLAN });
  revoked = [signed(1)];
  await expect(source.byHash(PLAN)).resolves.toMatchObject({ planHash: PLAN });
  await expect(source.byHash(PLAN, 'now')).rejects.toMatchObject({ type: 'policy_moved' });
});

it('a revocation takes effect within a second also if the clock was set back', async () => {
  let now = 3_600_000;
  let revoked: readonly Envelope[] = [];
  const source = sourceOf(
    () => [signed(1)],
    () => revoked,
    () => now,
  );
  await expect(source.current('shop', 'SQLCAS')).resolves.toMatchObject({ planHash: PLAN });
  revoked = [signed(1)];
  now = 0;
  await expect(source.current('shop', 'SQLCAS')).rejects.toMatchObject({ type: 'CONFIGURATION_ERROR' });
});

it('reads revisions again only for a plan that could have been revoked since, or that it does not know', async () => {
  const read: string[] = [];
  let now = 0;
  let revoked: readonly Envelope[] = [];
  const source = sourceOf(
    () => (read.push('list'), [signed(1)]),
    () => (read.push('revocations'), revoked),
    () => (now += 60_000),
  );
  const readFor = async (ask: () => Promise<unknown>) => {
    const before = read.length;
    await ask();
    return read.slice(before);
  };
  expect(await readFor(() => source.byHash(PLAN))).toEqual(['list', 'revocations']);
  expect(await readFor(() => source.byHash(PLAN, 'ignored'))).toEqual([]);
  expect(await readFor(() => source.byHash(PLAN, 'now'))).toEqual(['revocations']);
  revoked = [signed(1)];
  await expect(source.byHash(PLAN, 'now')).rejects.toMatchObject({ type: 'policy_moved' });
  await expect(source.byHash(PLAN)).rejects.toMatchObject({ type: 'policy_moved' });
  expect(await readFor(() => source.byHash(PLAN, 'ignored'))).toEqual([]);
});

it('uses revocations for one second from when it began to read them, however long the reading took', async () => {
  let now = 0;
  let revoked: readonly Envelope[] = [];
  const source = sourceOf(
    () => ((now += 900), [signed(1)]),
    () => revoked,
    () => now,
  );
  await source.byHash(PLAN);
  revoked = [signed(1)];
  now += 99;
  await expect(source.byHash(PLAN)).resolves.toMatchObject({ planHash: PLAN });
  now += 1;
  await expect(source.byHash(PLAN)).rejects.toMatchObject({ type: 'policy_moved' });
});

it('a bundle that is published again has the same plan and the number of each of its revisions', async () => {
  const published: Envelope[] = [];
  let now = 0;
  const source = sourceOf(
    () => published,
    () => [],
    () => (now += 60_000),
  );
  for (const revision of [1, 2, 3]) {
    published.push(signed(revision));
    await expect(source.current('shop', 'SQLCAS')).resolves.toMatchObject({ planHash: PLANS[revision], revision });
  }
  for (const revision of [1, 3, 1])
    await expect(source.byHash(PLAN, 'now', revision)).resolves.toMatchObject({ planHash: PLAN, revision });
  await expect(source.byHash(PLAN)).resolves.toMatchObject({ revision: 3 });
});

it('finds the plan of a revision that was published after the cached read, and refuses one that no revision has', async () => {
  const published = [signed(1)];
  let reads = 0;
  const source = sourceOf(
    () => ((reads += 1), published),
    () => [],
    () => 1_000,
  );
  await expect(source.current('shop', 'SQLCAS')).resolves.toMatchObject({ revision: 1 });
  await expect(source.byHash(SECOND)).rejects.toMatchObject({ type: 'policy_moved' });
  published.unshift(signed(2));
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
        rows: Array.from({ length: Math.min(count, Number(values[0])) }, () => ({
          envelope: signed(1),
          revoked_at: new Date(AT),
        })),
      }),
    } as never);
  await expect(table(1_000).revocations()).resolves.toHaveLength(1_000);
  await expect(table(1_001).revocations()).rejects.toMatchObject({ type: 'CONFIGURATION_ERROR' });
});

it('an agent of any tenant that names a wrong target or tool learns the tools of that target, and no other target', async () => {
  const entries = ['shop/SQLCAS', 'shop/SQLDryRun', 'payroll/GitPatch'].map((name) => name.split('/'));
  const source = createPlanSource({
    revisions: {
      list: async () => [{ envelope: signed(1), bundleText: '1', storedAt: AT }],
      revocations: async () => [],
    },
    verifyRevision: () => {
      const plans = entries.map(([target, sourceTool]) => ({ target, sourceTool, planHash: PLAN }));
      return { revision: 1, plans } as PolicyRevision;
    },
    verifyRevocation: () => null,
    compile: () => {
      throw new Error('not compiled here');
    },
    now: () => 0,
  });
  const message = (target: string): Promise<string> =>
    source.current(target, 'HTTPPatch').then(String, (error: unknown) => (error as Error).message);
  expect(await message('shop')).toMatch(
    /^sourceTool: .* has no plan for shop\/HTTPPatch: for shop, it expects one of SQLCAS, SQLDryRun$/,
  );
  const unknown = await message('shp');
  expect(unknown).toMatch(
    /^target: .* has no plan for shp\/HTTPPatch: it does not have the target shp; ask an operator/,
  );
  expect(unknown).not.toMatch(/shop|payroll/);
  await expect(source.current('shp', 'HTTPPatch')).rejects.toMatchObject({ details: [{ field: 'target' }] });
  await expect(source.current('shop', 'HTTPPatch')).rejects.toMatchObject({ details: [{ field: 'sourceTool' }] });
});
