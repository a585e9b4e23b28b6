import type { Envelope } from '../../../policy/contracts/diff';
import { passkeyKeyId } from '../../../policy/evidence/passkey-key';
import { enrollmentLink, oneTimeKeyOf, signPasskeyEnrollment, type OneTimeKey } from '../../../signing/enrollment-link';
import { newKeyPair } from '../../../signing/keys';
import { fullGrant, signKeyEntry, signKeyRevocation } from '../../../signing/registry-entry';
import { registeredKey } from '../../../signing/verify-review/registry-entries';
import type { Database } from '../../../storage/database/database';
import { createEnrollments } from '../../../storage/keys/enrollments';
import { keyEnvelopes } from '../../../storage/keys/key-envelopes';
import { createKeyRegistry } from '../../../storage/keys/key-registry';
import { newLink, type LinkRequest } from '../../../storage/keys/new-link';
import { testPasskey } from '../../support/passkey';
import { useFreshDatabase } from '../../support/postgres';

const DAY = 24 * 60 * 60 * 1000;
const operator = { ...newKeyPair(), demo: false };
const trustedOperators = [operator.publicKey];
const alices = testPasskey('alice').key;

const database = useFreshDatabase();
let [asOperator, asGateway, asReview, admin] = [] as unknown as [Database, Database, Database, Database];
let reports: string[];
beforeEach(async () => {
  [asOperator, asGateway, asReview] = [
    database.open('cs_operator'),
    database.open('cs_gateway'),
    database.open('cs_review'),
  ];
  admin = database.open('admin');
  reports = [];
});

const gateway = () => createEnrollments({ db: asGateway, trustedOperators });
const registry = () =>
  createKeyRegistry({
    db: asReview,
    trustedOperators,
    now: Date.now,
    report: ({ problem }) => reports.push(problem),
  });
const keysNow = async () => (await registry().snapshot(0)).keys;

/** A link as its receiver has it. */
async function link(more: Partial<LinkRequest> = {}): Promise<{ readonly key: OneTimeKey; readonly offer: Envelope }> {
  const made = await newLink(
    createEnrollments({ db: asOperator, trustedOperators }),
    {
      person: 'alice',
      tenants: ['acme'],
      publicUrl: 'https://countersign.example',
      validMs: DAY,
      now: new Date(),
      ...more,
    },
    operator,
  );
  const key = oneTimeKeyOf(new URL(made.link).hash)!;
  expect(enrollmentLink('https://countersign.example', key)).toBe(made.link);
  const { rows } = await admin.query<{ envelope: Envelope }>('select envelope from enrollments where key_id = $1', [
    key.keyId,
  ]);
  return { key, offer: rows[0]!.envelope };
}
const statement = ({ key, offer }: { key: OneTimeKey; offer: Envelope }, of = alices): Envelope =>
  signPasskeyEnrollment(key, offer, {
    credentialId: of.credentialId,
    publicKey: of.publicKey,
    enrolledAt: new Date().toISOString(),
  });
const insert = (to: Database, { key }: { key: OneTimeKey }, envelope: Envelope, of = alices) =>
  to.query('insert into passkeys (enrollment, key_id, envelope) values ($1, $2, $3)', [
    key.keyId,
    passkeyKeyId(of),
    JSON.stringify(envelope),
  ]);

it('enrols one passkey with a link, which the registry then has with the rights of the link', async () => {
  const made = await link();
  const open = await gateway().enrollmentOf(made.key.keyId);
  expect(open).toMatchObject({
    enrollment: { subject: { id: 'alice' }, rpId: 'countersign.example' },
    offer: made.offer,
  });
  const signed = statement(made);
  const done = { ok: true, keyId: passkeyKeyId(alices), person: 'alice' };
  expect(await gateway().completeEnrollment(made.key.keyId, signed, alices)).toEqual(done);
  expect(await keysNow()).toMatchObject([
    {
      keyId: done.keyId,
      passkey: alices,
      kind: 'approver',
      tenants: ['acme'],
      rights: ['read', 'answer'],
      revokedAt: null,
    },
  ]);
  expect(await registry().activeKeysOf(['alice'])).toHaveLength(1);
  expect(reports).toEqual([]);
  // The same request again, because its response was lost.
  expect(await gateway().completeEnrollment(made.key.keyId, signed, alices)).toEqual(done);
  expect(await gateway().enrollmentOf(made.key.keyId)).toBeNull();
});

it('takes one passkey of a link, however many are sent at once, and no passkey twice', async () => {
  const made = await link();
  const several = ['a', 'b', 'c', 'd'].map((seed) => testPasskey('alice', { seed }).key);
  const results = await Promise.all(
    several.map((of) => gateway().completeEnrollment(made.key.keyId, statement(made, of), of)),
  );
  expect(results.map((result) => (result.ok ? 'ok' : result.code)).sort()).toEqual(['ok', 'spent', 'spent', 'spent']);
  expect(await keysNow()).toHaveLength(1);
  const second = await link({ person: 'bob' });
  const enrolled = several[results.findIndex(({ ok }) => ok)]!;
  expect(await gateway().completeEnrollment(second.key.keyId, statement(second, enrolled), enrolled)).toMatchObject({
    code: 'spent',
  });
  expect(await keysNow()).toMatchObject([{ subject: { id: 'alice' } }]);
});

it('refuses a link that is unknown, expired or revoked, and a statement that it did not make', async () => {
  const made = await link();
  const complete = (keyId: string, signed: Envelope, of = alices) => gateway().completeEnrollment(keyId, signed, of);
  expect(await gateway().enrollmentOf('f'.repeat(64))).toBeNull();
  expect(await complete('f'.repeat(64), statement(made))).toMatchObject({ code: 'not_open' });
  expect(await complete(made.key.keyId, made.offer)).toMatchObject({ code: 'invalid' });
  const other = await link({ person: 'mallory' });
  expect(await complete(made.key.keyId, statement(other))).toMatchObject({ code: 'invalid' });
  const bobs = testPasskey('bob').key;
  expect(await complete(made.key.keyId, statement(made), bobs)).toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('another credential'),
  });

  const expired = await link({ now: new Date(Date.now() - 2 * DAY) });
  expect(await gateway().enrollmentOf(expired.key.keyId)).toBeNull();
  expect(await complete(expired.key.keyId, statement(expired))).toMatchObject({ code: 'not_open' });

  const revocation = { keyId: made.key.keyId, reason: 'sent to the wrong person', revokedAt: new Date().toISOString() };
  const operators = createKeyRegistry({ db: asOperator, trustedOperators, now: Date.now });
  await operators.revoke(signKeyRevocation(revocation, operator));
  expect(await gateway().enrollmentOf(made.key.keyId)).toBeNull();
  expect(await complete(made.key.keyId, statement(made))).toMatchObject({ code: 'not_open' });
  expect(await keysNow()).toEqual([]);
});

describe('a gateway or database writer that writes rows itself enrols no one', () => {
  it('without a link of an operator', async () => {
    const made = await link();
    const forged = await newLink(
      { add: async () => ({}) as never },
      {
        person: 'mallory',
        tenants: ['*'],
        publicUrl: 'https://countersign.example',
        validMs: DAY,
        now: new Date(),
      },
      { ...newKeyPair(), demo: false },
    );
    await expect(createEnrollments({ db: asGateway, trustedOperators }).add(made.offer)).rejects.toThrow(
      'permission denied',
    );
    await expect(insert(asGateway, { key: oneTimeKeyOf(new URL(forged.link).hash)! }, made.offer)).rejects.toThrow(
      'foreign key',
    );
  });

  it('with a link that another operator signed', async () => {
    const stranger = { ...newKeyPair(), demo: false };
    const theirs = createEnrollments({ db: asOperator, trustedOperators: [stranger.publicKey] });
    const request = {
      person: 'mallory',
      tenants: ['*'],
      publicUrl: 'https://countersign.example',
      validMs: DAY,
      now: new Date(),
    };
    const key = oneTimeKeyOf(new URL((await newLink(theirs, request, stranger)).link).hash)!;
    const { rows } = await admin.query<{ envelope: Envelope }>('select envelope from enrollments where key_id = $1', [
      key.keyId,
    ]);
    const made = { key, offer: rows[0]!.envelope };
    await insert(asGateway, made, statement(made));
    expect(await keysNow()).toEqual([]);
    expect(reports).toEqual([expect.stringContaining('no trusted operator')]);
    await expect(createEnrollments({ db: asOperator, trustedOperators }).add(made.offer)).rejects.toThrow('operator');
  });

  it('with a statement of another link, and with none', async () => {
    const [made, other] = [await link(), await link({ person: 'bob' })];
    await insert(asGateway, made, statement(other));
    await insert(asGateway, other, other.offer, testPasskey('bob').key);
    expect(await keysNow()).toEqual([]);
    expect(reports).toHaveLength(2);
  });

  it('after the link has expired, whatever time statement and row name', async () => {
    const made = await link({ now: new Date(Date.now() - DAY), validMs: DAY - 60_000 });
    const early = {
      credentialId: alices.credentialId,
      publicKey: alices.publicKey,
      enrolledAt: new Date(Date.now() - DAY / 2).toISOString(),
    };
    await asGateway.query('insert into passkeys (enrollment, key_id, envelope, added_at) values ($1, $2, $3, $4)', [
      made.key.keyId,
      passkeyKeyId(alices),
      JSON.stringify(signPasskeyEnrollment(made.key, made.offer, early)),
      early.enrolledAt,
    ]);
    expect(await keysNow()).toEqual([]);
    expect(reports).toEqual([expect.stringContaining('expired')]);
  });

  it('by changing what is there', async () => {
    const made = await link();
    await insert(asGateway, made, statement(made));
    for (const statementText of [
      'update passkeys set key_id = key_id',
      'delete from passkeys',
      'delete from enrollments',
    ])
      await expect(admin.query(statementText)).rejects.toThrow('append-only');
    await expect(asGateway.query('update passkeys set key_id = key_id')).rejects.toThrow('permission denied');
    for (const db of [asGateway, asOperator, asReview])
      await expect(db.query(`insert into passkey_counters values ('a', 1, 'b')`)).rejects.toThrow('permission denied');
  });
});

it('a revocation of the passkey or of its link revokes it, and evidence has the first of both', async () => {
  for (const [i, revokeLink] of [false, true].entries()) {
    const of = testPasskey('alice', { seed: `revoked ${i}` }).key;
    const made = await link();
    await gateway().completeEnrollment(made.key.keyId, statement(made, of), of);
    const keyId = passkeyKeyId(of);
    const revoked = revokeLink ? made.key.keyId : keyId;
    const envelope = signKeyRevocation(
      { keyId: revoked, reason: 'lost', revokedAt: new Date().toISOString() },
      operator,
    );
    await createKeyRegistry({ db: asOperator, trustedOperators, now: Date.now }).revoke(envelope);
    expect((await keysNow()).find((key) => key.keyId === keyId)?.revokedAt).not.toBeNull();
    const [found] = await keyEnvelopes(asGateway, trustedOperators).envelopesOf([keyId]);
    expect(found?.registration).toMatchObject({ enrollment: made.offer, revocation: envelope });
    expect(registeredKey(found!.registration, trustedOperators, null)).toMatchObject({
      keyId,
      revokedAt: expect.any(String),
    });
  }
});

it('a forged revocation of a passkey does not hide the genuine one of its link', async () => {
  const of = testPasskey('alice', { seed: 'hidden' }).key;
  const made = await link();
  await gateway().completeEnrollment(made.key.keyId, statement(made, of), of);
  const keyId = passkeyKeyId(of);
  const stranger = newKeyPair();
  const forged = signKeyRevocation({ keyId, reason: '', revokedAt: '2020-01-01T00:00:00.000Z' }, stranger);
  await asOperator.query('insert into key_revocations (key_id, envelope) values ($1, $2)', [
    keyId,
    JSON.stringify(forged),
  ]);
  const revokedNow = async () => (await keysNow()).find((key) => key.keyId === keyId)?.revokedAt;
  const exportedNow = async () =>
    (await keyEnvelopes(asGateway, trustedOperators).envelopesOf([keyId]))[0]!.registration;
  expect([typeof (await revokedNow()), (await exportedNow()).revocation]).toEqual(['string', forged]);
  const revokedAt = new Date().toISOString();
  const genuine = signKeyRevocation({ keyId: made.key.keyId, reason: 'lost', revokedAt }, operator);
  await createKeyRegistry({ db: asOperator, trustedOperators, now: Date.now }).revoke(genuine);
  expect([await revokedNow(), (await exportedNow()).revocation]).toEqual([revokedAt, genuine]);
});

test('a row that the gateway writes under the id of a registered key does not take its place in evidence', async () => {
  const offered = await link();
  const approver = newKeyPair();
  const { keyId } = approver;
  const grant = { ...fullGrant('approver', ['acme']), onBehalfOf: null, demo: false } as const;
  const subject = { type: 'person', id: 'bob' } as const;
  const addedAt = new Date().toISOString();
  const entry = signKeyEntry({ ...grant, publicKey: approver.publicKey, kind: 'approver', subject, addedAt }, operator);
  const insertion = 'insert into passkeys (enrollment, key_id, envelope) values ($1, $2, $3)';
  await asGateway.query(insertion, [offered.key.keyId, keyId, JSON.stringify(statement(offered))]);
  await asOperator.query('insert into keys (key_id, envelope) values ($1, $2)', [keyId, JSON.stringify(entry)]);
  const read = await keyEnvelopes(asReview, trustedOperators).envelopesOf([keyId]);
  expect(read).toEqual([{ keyId, registration: { entry, revocation: null } }]);
  expect((await keysNow()).map((key) => key.subject.id)).toEqual(['bob']);
});
