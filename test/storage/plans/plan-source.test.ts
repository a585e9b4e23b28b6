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
