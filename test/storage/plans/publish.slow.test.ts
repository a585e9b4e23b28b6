import type { SignedRevision } from '../../../policy/evidence/published-policy';
import { newKeyPair } from '../../../signing/keys';
import { signRevision } from '../../../signing/policy-revision';
import { starterBundle } from '../../../source-tools/starter-bundle';
import { MAX_REVISIONS_A_DAY } from '../../../storage/database/publish-policy-sql';
import { newestRevision } from '../../../storage/plans/newest-revision';
import { publishBundle, storeRevision } from '../../../storage/plans/publish';
import { publishedPolicies } from '../../../storage/plans/stored-revisions';
import { compileAll } from '../../../workers/compile';
import { extensionsOf } from '../../../workers/extensions';
import { useFreshDatabase } from '../../support/postgres';

const operator = newKeyPair();
const bundle = (member: string): string =>
  starterBundle('SQLDryRun', { targets: ['shop'], members: [member], development: false });
type Member = 'alice' | 'bob';
const extensions = extensionsOf([]);
const PLANS = { alice: compileAll(bundle('alice'), extensions), bob: compileAll(bundle('bob'), extensions) } as const;

function signed(revision: number, member: Member = 'alice', key = operator): SignedRevision {
  const plans = PLANS[member];
  const content = { bundleText: bundle(member), plans };
  return {
    envelope: signRevision(revision, content, key, new Date('2026-11-01T00:00:00Z')),
    bundleText: content.bundleText,
    plans: plans.map(({ plan }) => plan),
  };
}

const database = useFreshDatabase();

describe('publish_policy', () => {
  it('stores a revision with its plans for the gateway, once, and returns the next number for any other', async () => {
    const db = database.open('cs_gateway');
    expect(await storeRevision(db, 2, signed(2))).toBe(1);
    expect(await storeRevision(db, 1, signed(1))).toBeNull();
    expect(await storeRevision(db, 1, signed(1))).toBeNull();
    expect(await storeRevision(db, 1, signed(1, 'bob'))).toBe(2);
    const { newest, signed: all } = await newestRevision(db, [operator.publicKey]);
    expect([newest?.revision.revision, all.length]).toEqual([1, 1]);
    const [plan] = PLANS.alice;
    expect(await publishedPolicies(db).plan(plan?.planHash ?? '')).toEqual(plan?.plan);
  });

  it('refuses a statement for another number, bundle or plans', async () => {
    const db = database.open('cs_gateway');
    const one = signed(1);
    const [plan] = one.plans;
    for (const wrong of [
      { ...one, envelope: signed(2).envelope },
      { ...one, bundleText: `${one.bundleText} ` },
      { ...one, plans: [] },
      { ...one, plans: [{ ...plan!, development: true }] },
      { ...one, plans: [plan!, { ...plan!, development: true }] },
    ])
      await expect(storeRevision(db, 1, wrong)).rejects.toMatchObject({ code: '22023' });
    expect((await db.query('select from policy_revisions')).rowCount).toBe(0);
    expect((await db.query('select from compiled_plans')).rowCount).toBe(0);
  });

  it('can be called by the gateway and the operator only', async () => {
    for (const role of ['cs_review', 'cs_judge', 'cs_commit', 'cs_reader'] as const)
      await expect(storeRevision(database.open(role), 1, signed(1))).rejects.toMatchObject({ code: '42501' });
    expect(await storeRevision(database.open('cs_operator'), 1, signed(1))).toBeNull();
  });

  it('is limited per day for the gateway, and not for the operator', async () => {
    const [gateway, owner] = [database.open('cs_gateway'), database.open('cs_operator')];
    const stranger = newKeyPair();
    for (let n = 1; n <= MAX_REVISIONS_A_DAY; n++) await storeRevision(gateway, n, signed(n, 'alice', stranger));
    const next = MAX_REVISIONS_A_DAY + 1;
    await expect(storeRevision(gateway, next, signed(next))).rejects.toMatchObject({ code: '54000' });
    expect(await storeRevision(owner, next, signed(next))).toBeNull();
  });
});

describe('publishBundle', () => {
  const publish = (member: Member) =>
    publishBundle(database.open('cs_operator'), {
      bundleText: bundle(member),
      plans: PLANS[member],
      operator,
    });

  it('does nothing if the revision in force has the same bundle and plans', async () => {
    expect(await publish('alice')).toEqual({ revision: 1, published: true });
    expect(await publish('alice')).toEqual({ revision: 1, published: false });
    expect(await publish('bob')).toEqual({ revision: 2, published: true });
    expect(await publish('alice')).toEqual({ revision: 3, published: true });
  });

  it('publishes although another signer stored the same content before, which no process would use', async () => {
    await storeRevision(database.open('cs_gateway'), 1, signed(1, 'alice', newKeyPair()));
    expect(await publish('alice')).toEqual({ revision: 2, published: true });
  });

  it('two at the same time get different numbers', async () => {
    const done = await Promise.all([publish('alice'), publish('bob')]);
    expect(done.map(({ revision }) => revision).sort()).toEqual([1, 2]);
  });
});
