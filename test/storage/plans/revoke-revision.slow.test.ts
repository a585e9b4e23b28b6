import { remoteModules } from '../../../cli/remote-modules';
import { writeKeyFile } from '../../../signing/key-file';
import { newKeyPair } from '../../../signing/keys';
import { signRevocation } from '../../../signing/policy-revision';
import type { Database } from '../../../storage/database/database';
import { createPlanSource, type PlanSource } from '../../../storage/plans/plan-source';
import { publishBundle } from '../../../storage/plans/publish';
import { operatorVerifier, storedRevisions } from '../../../storage/plans/stored-revisions';
import { runCommand, temporaryFolder, type CommandRun } from '../../cli/run-command';
import { useFreshDatabase } from '../../support/postgres';
import { demoBundle } from '../../support/review/demo-rules';
import { ReviewWorld } from '../../support/review/review-world';

const operator = newKeyPair();
const stranger = newKeyPair();
const folder = temporaryFolder();
const label = { kind: 'operator', subject: { type: 'person', id: 'olga' }, onBehalfOf: null, demo: false } as const;

/** A review whose plans come from the revisions in the database. */
class StoredWorld extends ReviewWorld {
  stored: PlanSource | null = null;
  override get plans(): PlanSource {
    return this.stored ?? super.plans;
  }
}

const database = useFreshDatabase();
let db: Database;
beforeAll(async () => {
  for (const [name, key] of Object.entries({ operator, stranger }))
    writeKeyFile({ path: folder.path(name), key, label, createdAt: '2026-01-01T00:00:00.000Z' });
});
beforeEach(async () => {
  db = database.open('cs_operator');
});

/** Publishes the bundle of the demo rules; `name` makes it another one. */
async function publish(world: ReviewWorld, name = 'Shop'): Promise<number> {
  const { plan, planHash } = world;
  const { target, sourceTool } = plan;
  const bundleText = demoBundle({ name });
  const plans = [{ target, sourceTool, planHash, plan }];
  return (await publishBundle(db, { bundleText, plans, operator })).revision;
}

function committerPlans({ plan, planHash }: ReviewWorld): PlanSource {
  const revisions = storedRevisions(database.open('cs_commit'));
  const verifier = operatorVerifier([operator.publicKey]);
  return createPlanSource({ revisions, ...verifier, compile: () => ({ plan, planHash }), now: Date.now });
}

function revoke(revision: string, key = 'operator', more: readonly string[] = []): Promise<CommandRun> {
  const env = {
    COUNTERSIGN_STATE_DIR: folder.path('none'),
    COUNTERSIGN_DATABASE_URL: database.url('cs_operator'),
    COUNTERSIGN_TRUST_FILE: folder.write('trust.json', JSON.stringify({ operators: [operator.publicKey] })),
  };
  const args = [
    'policy',
    'revoke',
    revision,
    '--reason',
    'forgot the vault',
    '--operator-key',
    folder.path(key),
    ...more,
  ];
  return runCommand(args, { host: { env, remote: remoteModules, now: () => new Date() } });
}

const rows = async (): Promise<number> => (await db.query('select from policy_revocations')).rowCount ?? 0;

test('`policy revoke` refuses the commit of an open review, which is rolled back as policy_moved', async () => {
  const world = new StoredWorld();
  expect(await publish(world)).toBe(1);
  world.stored = committerPlans(world);
  await world.confirmed();
  expect(await revoke('1')).toMatchObject({
    code: 0,
    out: 'revision 1 revoked\nno revision is in force: publish one\n',
  });
  expect(await world.commit()).toMatchObject({ state: 'REFUSED', reason: 'policy_moved' });
  expect(await world.rollback({ reason: 'policy_moved' })).toMatchObject({ reason: 'policy_moved' });
  expect(world.target.applied).toBe(0);
});

test('names the revision in force, and a second revocation of the same revision is a no-op', async () => {
  const world = new ReviewWorld();
  for (const [i, name] of ['Shop', 'Other', 'Shop'].entries()) expect(await publish(world, name)).toBe(i + 1);
  expect((await revoke('3')).out).toBe('revision 3 revoked\nrevision 2 is in force\n');
  expect((await revoke('3')).out).toBe('revision 3 is already revoked\nrevision 2 is in force\n');
  // Revisions 1 and 3 have the same bundle.
  expect(JSON.parse((await revoke('1', 'operator', ['--json'])).out)).toEqual({
    revision: 1,
    revoked: true,
    inForce: 2,
  });
  expect(await rows()).toBe(2);
});

test('a row that no trusted operator signed neither revokes a revision nor takes the place of its revocation', async () => {
  const world = new ReviewWorld();
  await publish(world);
  const { rows: stored } = await db.query<{ bundle_sha: string }>('select bundle_sha from policy_revisions');
  const bundleSha = stored[0]?.bundle_sha ?? '';
  const forged = signRevocation({ revision: 1, bundleSha }, '', stranger, new Date());
  await db.query('insert into policy_revocations (envelope) values ($1)', [JSON.stringify(forged)]);
  const plans = committerPlans(world);
  expect(await plans.byHash(world.planHash, 'now')).toMatchObject({ revision: 1 });
  expect(await revoke('1')).toMatchObject({ code: 0 });
  await expect(plans.byHash(world.planHash, 'now')).rejects.toMatchObject({ type: 'policy_moved' });
});

test('writes nothing for an unknown revision, for a key that is not trusted, or with wrong arguments', async () => {
  await publish(new ReviewWorld());
  expect(await revoke('2')).toMatchObject({ code: 1, out: '', err: expect.stringContaining('revision') });
  expect(await revoke('1', 'stranger')).toMatchObject({
    code: 13,
    out: '',
    err: expect.stringContaining('trust file'),
  });
  for (const revision of ['0', 'x', '1.5', '-1']) expect(await revoke(revision)).toMatchObject({ code: 2 });
  expect(await revoke('1', 'operator', ['--reason', 'x'.repeat(501)])).toMatchObject({ code: 2 });
  expect(await rows()).toBe(0);
});
