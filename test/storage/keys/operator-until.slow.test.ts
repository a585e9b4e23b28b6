/**
 * Whoever has the key of an operator whose time has ended, and the database role of operators, can date statements back. The database
 * writes the time of each row, so none of them counts.
 */
import type { Envelope } from '../../../policy/contracts/diff';
import type { OperatorKey } from '../../../signing/operator-key';
import { enrollmentLink, oneTimeKeyOf } from '../../../signing/enrollment-link';
import { signPredicate } from '../../../signing/envelope';
import { newKeyPair } from '../../../signing/keys';
import { fullGrant, signKeyEntry, signKeyRevocation } from '../../../signing/registry-entry';
import type { Database } from '../../../storage/database/database';
import { registeredKey } from '../../../signing/verify-review/registry-entries';
import { createEnrollments } from '../../../storage/keys/enrollments';
import { createKeyRegistry } from '../../../storage/keys/key-registry';
import { newLink } from '../../../storage/keys/new-link';
import { openLinks } from '../../../storage/keys/open-links';
import { keyEnvelopes } from '../../../storage/keys/key-envelopes';
import { newestRevision } from '../../../storage/plans/newest-revision';
import { publishBundle, storeRevision } from '../../../storage/plans/publish';
import { signRevision, signRevocation } from '../../../signing/policy-revision';
import { checkPolicies } from '../../../cli/doctor/policies';
import type { LocalClient } from '../../../workers/local-client';
import { targetFreezes } from '../../../activities/committer/target-freezes';
import { demoBundle } from '../../support/review/demo-rules';
import { ReviewWorld } from '../../support/review/review-world';
import { useFreshDatabase } from '../../support/postgres';

const HOUR = 60 * 60 * 1000;
const at = (hours: number): string => new Date(Date.now() + hours * HOUR).toISOString();
const left = { ...newKeyPair(), demo: false };
const dana = newKeyPair();

const database = useFreshDatabase();
let db: Database;
let reports: string[];
beforeEach(() => {
  db = database.open('cs_operator');
  reports = [];
});

/** As processes trust the key while its owner works here, and since the time ended an hour ago. */
const before: readonly OperatorKey[] = [left.publicKey];
const since = (until = at(-1)): readonly OperatorKey[] => [{ publicKey: left.publicKey, until }];

/** This moment; returns when it is past. */
async function soon(): Promise<string> {
  const now = at(0);
  await new Promise((done) => setTimeout(done, 5));
  return now;
}

const registryOf = (trustedOperators: readonly OperatorKey[]) =>
  createKeyRegistry({ db, trustedOperators, now: Date.now, report: ({ problem }) => reports.push(problem) });
const DANA = {
  publicKey: dana.publicKey,
  kind: 'approver',
  subject: { type: 'person', id: 'dana' },
  onBehalfOf: null,
  ...fullGrant('approver', ['acme']),
  demo: false,
} as const;
const entryOf = (addedAt: string): Envelope => signKeyEntry({ ...DANA, addedAt }, left);

test('a key that was registered before the time stays active, also with a trust file that has the time', async () => {
  await registryOf(before).add(entryOf(at(0)));
  expect(await registryOf(since(at(1))).find(dana.keyId)).toMatchObject({ subject: { id: 'dana' }, revokedAt: null });
});

test.each([0, -48])('an entry of the time %s hours is neither registered nor counted', async (hours) => {
  const late = registryOf(since());
  if (hours === 0) await expect(late.add(entryOf(at(0)))).rejects.toThrow('only until');
  expect((await db.query('select from keys')).rowCount).toBe(0);
  // Past the registry, with the time of the row as well.
  await expect(
    db.query('insert into keys (key_id, envelope, added_at) values ($1, $2, $3)', [
      dana.keyId,
      JSON.stringify(entryOf(at(hours))),
      at(-48),
    ]),
  ).resolves.toMatchObject({ rowCount: 1 });
  expect(await late.find(dana.keyId)).toBeNull();
  expect(reports).toEqual([expect.stringContaining('only until')]);
  // Another operator cannot sign the same key again.
  const olga = { ...newKeyPair(), demo: false };
  const again = signKeyEntry({ ...DANA, addedAt: at(0) }, olga);
  await expect(registryOf([...since(), olga.publicKey]).add(again)).rejects.toThrow(
    /does not count: .* only until .*give the owner a new key/,
  );
});

test('a link that is dated back is not open', async () => {
  const made = await newLink(
    createEnrollments({ db, trustedOperators: before }),
    {
      person: 'eve',
      tenants: ['acme'],
      publicUrl: 'https://countersign.example',
      validMs: 24 * HOUR,
      now: new Date(Date.now() - 2 * HOUR),
    },
    left,
  );
  const key = oneTimeKeyOf(new URL(made.link).hash);
  expect(key).not.toBeNull();
  expect(enrollmentLink('https://countersign.example', key!)).toBe(made.link);
  const open = async (operators: readonly OperatorKey[]) =>
    (await openLinks(db, createEnrollments({ db, trustedOperators: operators }))).map(({ subject }) => subject.id);
  expect(await open(before)).toEqual(['eve']);
  expect(await open(since())).toEqual([]);
});

async function publish(name: string): Promise<number> {
  const { plan, planHash } = new ReviewWorld();
  const plans = [{ target: plan.target, sourceTool: plan.sourceTool, planHash, plan }];
  return (await publishBundle(db, { bundleText: demoBundle({ name }), plans, operator: left })).revision;
}

test('a policy that is dated back is not in force, and the one of before the time is', async () => {
  await publish('Shop');
  const until = await soon();
  // The thief's own clock does not count: the database wrote the row.
  await publish('Lax');
  const inForce = async (operators: readonly OperatorKey[]) =>
    (await newestRevision(db, operators)).newest?.revision.revision;
  expect(await inForce(before)).toBe(2);
  expect(await inForce(since(until))).toBe(1);
  expect(await inForce(since())).toBeUndefined();
  const local = { databaseUrl: database.url('cs_gateway') } as LocalClient;
  const checks = async (operators: readonly OperatorKey[]) =>
    (await checkPolicies({ ...local, operators: [...operators] }, null, undefined)).map(({ name }) => name);
  expect(await checks(before)).toEqual(['policy shop/SQLDryRun']);
  expect(await checks(since(until))).toEqual(['policy revision 2', 'policy shop/SQLDryRun']);
});

test.each(['cs_operator', 'cs_gateway'] as const)(
  'a policy that is dated back is not in force, also in a transaction of %s that began before the time',
  async (role) => {
    const { plan, planHash } = new ReviewWorld();
    const [bundleText, { target, sourceTool }] = [demoBundle({ name: 'Lax' }), plan];
    const content = { bundleText, plans: [{ target, sourceTool, planHash }] };
    const envelope = signRevision(1, content, left, new Date(Date.now() - 48 * HOUR));
    const until = await database.open(role).transaction(async (tx) => {
      await tx.query('select');
      const end = await soon();
      await storeRevision(tx, 1, { envelope, bundleText, plans: [plan] });
      return end;
    });
    expect((await newestRevision(db, before)).newest?.revision.revision).toBe(1);
    expect((await newestRevision(db, since(until))).newest).toBeNull();
  },
);

test('a revocation of a policy that is dated back does not count', async () => {
  await publish('Shop');
  const until = await soon();
  const { newest } = await newestRevision(db, since(until));
  const revocation = signRevocation(newest!.revision, 'r', left, new Date(Date.now() - 48 * HOUR));
  await db.query('insert into policy_revocations (envelope, revoked_at) values ($1, $2)', [
    JSON.stringify(revocation),
    at(-48),
  ]);
  expect((await newestRevision(db, before)).newest).toBeNull();
  expect((await newestRevision(db, since(until))).newest?.revision.revision).toBe(1);
});

test('an unfreeze that is dated back leaves the target frozen', async () => {
  const write = (n: number, frozen: boolean, signedAt: string) => {
    const freeze = { target: 'shop', n, frozen, reason: 'r', keyId: left.keyId, at: signedAt };
    return db.query('insert into target_freezes (target, n, envelope, added_at) values ($1, $2, $3, $4)', [
      'shop',
      n,
      JSON.stringify(signPredicate('target-freeze', freeze, left)),
      signedAt,
    ]);
  };
  await write(1, true, at(0));
  const until = await soon();
  await write(2, false, at(-48));
  const current = targetFreezes(database.open('cs_commit'), since(until)).current('shop');
  expect(await current).toMatchObject({ n: 1, frozen: true });
  expect(await targetFreezes(database.open('cs_commit'), before).current('shop')).toBeNull();
});

test('a revocation that is dated back still revokes, and is reported', async () => {
  await registryOf(before).add(entryOf(at(0)));
  const until = await soon();
  const revocation = signKeyRevocation({ keyId: dana.keyId, reason: 'r', revokedAt: at(-48) }, left);
  await db.query('insert into key_revocations (key_id, envelope) values ($1, $2)', [
    dana.keyId,
    JSON.stringify(revocation),
  ]);
  const key = await registryOf(since(until)).find(dana.keyId);
  expect(key).toMatchObject({ unsignedRevocation: true, revokedAt: expect.any(String) });
  // Evidence of what the key signed before still verifies.
  const [found] = await keyEnvelopes(db, since(until)).envelopesOf([dana.keyId]);
  expect(registeredKey(found!.registration, since(until), null)).toMatchObject({ revokedAt: null });
  expect(registeredKey(found!.registration, since(until), key!.revokedAt)).toMatchObject({ revokedAt: key!.revokedAt });
});
