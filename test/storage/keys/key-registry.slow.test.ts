import type { Envelope } from '../../../policy/contracts/diff';
import type { KeyEntry } from '../../../policy/evidence/predicates';
import { keyEnvelopes } from '../../../storage/keys/key-envelopes';
import { createKeyRegistry, CACHE_MS } from '../../../storage/keys/key-registry';
import { remoteModules } from '../../../cli/remote-modules';
import { writeKeyFile } from '../../../signing/key-file';
import { newKeyPair, type SigningKey } from '../../../signing/keys';
import { fullGrant, signKeyEntry, signKeyRevocation } from '../../../signing/registry-entry';
import { signPredicate } from '../../../signing/envelope';
import type { Database } from '../../../storage/database/database';
import { runCommand, temporaryFolder } from '../../cli/run-command';
import { useFreshDatabase } from '../../support/postgres';

const AT = '2026-01-02T03:04:05.000Z';
const database = useFreshDatabase();
let db: Database;
let admin: Database;
beforeEach(async () => {
  db = database.open('cs_operator');
  operatorUrl = database.url('cs_operator');
  admin = database.open('admin');
  clock = 0;
  reports = [];
});

let operatorUrl: string;
const folder = temporaryFolder();
const operator = newKeyPair();
const otherOperator = newKeyPair();
let clock: number;
let reports: string[];
const registry = (trusted: readonly SigningKey[] = [operator]) =>
  createKeyRegistry({
    db,
    trustedOperators: trusted.map((k) => k.publicKey),
    now: () => clock,
    report: ({ keyId, problem }) => reports.push(`${keyId} ${problem}`),
  });

const entry = (key: SigningKey, id: string, more: Partial<KeyEntry> = {}) => ({
  publicKey: key.publicKey,
  addedAt: AT,
  kind: 'approver' as const,
  subject: { type: 'person' as const, id },
  onBehalfOf: null,
  ...fullGrant(more.kind ?? 'approver', ['acme']),
  demo: false,
  ...more,
});
const insert = (table: 'keys' | 'key_revocations', keyId: string, envelope: unknown) =>
  admin.query(`insert into ${table} (key_id, envelope) values ($1, $2)`, [keyId, JSON.stringify(envelope)]);

it('finds and lists keys signed by an operator, and the active keys of persons', async () => {
  const r = registry();
  const [dana, dana2, eli] = [newKeyPair(), newKeyPair(), newKeyPair()];
  const service = newKeyPair();
  await r.add(signKeyEntry(entry(dana, 'dana'), operator));
  await r.add(signKeyEntry(entry(dana2, 'dana'), operator));
  await r.add(signKeyEntry(entry(eli, 'eli'), operator));
  await r.add(signKeyEntry(entry(service, 'dana', { kind: 'service', onBehalfOf: 'dana' }), operator));
  expect(await r.find(dana.keyId)).toMatchObject({
    keyId: dana.keyId,
    subject: { id: 'dana' },
    revokedAt: null,
    demo: false,
  });
  expect(await r.find('f'.repeat(64))).toBeNull();
  expect(await r.list()).toHaveLength(4);
  await r.revoke(signKeyRevocation({ keyId: dana2.keyId, reason: 'lost', revokedAt: AT }, operator));
  expect((await r.activeKeysOf(['dana', 'unknown'])).map((k) => k.keyId)).toEqual([dana.keyId]);
});

it('revokes permanently: immediately in this process and for uncached reads, within a second in others', async () => {
  const [r, elsewhere] = [registry(), registry()];
  const key = newKeyPair();
  await r.add(signKeyEntry(entry(key, 'dana'), operator));
  expect((await elsewhere.find(key.keyId))?.revokedAt).toBeNull();
  await r.revoke(signKeyRevocation({ keyId: key.keyId, reason: 'lost', revokedAt: AT }, operator));
  expect((await r.find(key.keyId))?.revokedAt).toBe(AT);
  expect((await elsewhere.find(key.keyId))?.revokedAt).toBeNull();
  expect((await elsewhere.snapshot(0)).find(key.keyId)?.revokedAt).toBe(AT);
  clock = CACHE_MS + 1;
  expect((await elsewhere.find(key.keyId))?.revokedAt).toBe(AT);
  await expect(r.add(signKeyEntry(entry(key, 'dana'), operator))).rejects.toThrow('which is permanent');
  expect((await r.find(key.keyId))?.revokedAt).toBe(AT);
});

it('revokes no id that no key, passkey or link has, and names the key whose public key it is', async () => {
  const r = registry();
  const key = newKeyPair();
  await r.add(signKeyEntry(entry(key, 'dana'), operator));
  const revoke = (keyId: string) => r.revoke(signKeyRevocation({ keyId, reason: 'stolen', revokedAt: AT }, operator));
  await expect(revoke('f'.repeat(64))).rejects.toMatchObject({
    type: 'VALIDATION_ERROR',
    message: `no key, passkey or link has the id ${'f'.repeat(64)}. Nothing was revoked`,
  });
  await expect(revoke(key.publicKey)).rejects.toThrow(`it is the public key of the key ${key.keyId}`);
  expect((await db.query('select from key_revocations', [])).rowCount).toBe(0);
  await revoke(key.keyId);
  expect((await r.find(key.keyId))?.revokedAt).toBe(AT);
});

it('`keys revoke` refuses a public key and names its id; a revoked key cannot be registered again, and one of an operator still signs', async () => {
  const key = newKeyPair();
  await registry().add(signKeyEntry(entry(key, 'dana'), operator));
  const label = { kind: 'operator', subject: { type: 'person', id: 'olga' }, onBehalfOf: null, demo: false } as const;
  writeKeyFile({ path: folder.path('operator'), key: operator, label, createdAt: AT });
  const env = {
    COUNTERSIGN_STATE_DIR: folder.path('none'),
    COUNTERSIGN_DATABASE_URL: operatorUrl,
    COUNTERSIGN_TRUST_FILE: folder.write('trust.json', JSON.stringify({ operators: [operator.publicKey] })),
  };
  const run = (...args: string[]) =>
    runCommand(['keys', ...args, '--operator-key', folder.path('operator')], {
      host: { env, remote: remoteModules, now: () => new Date() },
    });
  const revoke = (id: string) => run('revoke', id, '--reason', 'stolen');
  expect(await revoke(key.publicKey)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(key.keyId) });
  expect((await registry().find(key.keyId))?.revokedAt).toBeNull();
  expect(await revoke(key.keyId)).toMatchObject({ code: 0, out: `${key.keyId}  revoked\n`, err: '' });
  expect((await registry().find(key.keyId))?.revokedAt).not.toBeNull();
  const again = ['register', key.publicKey, '--kind', 'approver', '--subject', 'person:dana', '--tenant', 'acme'];
  expect(await run(...again)).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('which is permanent. Register a new key'),
  });
  const holder = ['--kind', 'operator', '--subject', 'person:olga', '--tenant', '*'];
  expect(await run('register', operator.publicKey, ...holder)).toMatchObject({ code: 0 });
  expect(await revoke(operator.keyId)).toMatchObject({
    code: 0,
    out: `${operator.keyId}  revoked\n`,
    err: expect.stringContaining('what it signs still counts, because the trust file lists it'),
  });
});

it('ignores rows not signed by a trusted operator, and reports each once', async () => {
  const [mallory, forgedBy] = [newKeyPair(), newKeyPair()];
  const good = signKeyEntry(entry(newKeyPair(), 'dana'), operator);
  const stolen = signKeyEntry(entry(newKeyPair(), 'eli'), operator);
  await insert('keys', mallory.keyId, signKeyEntry(entry(mallory, 'dana'), forgedBy));
  await insert('keys', '1'.repeat(64), good);
  await insert('keys', '2'.repeat(64), { nonsense: true });
  await insert('keys', '3'.repeat(64), { ...stolen, payload: good.payload });
  const r = registry();
  expect(await r.list()).toEqual([]);
  expect((await r.snapshot()).ignored).toHaveLength(4);
  clock = CACHE_MS + 1;
  await r.list();
  expect(reports).toHaveLength(4);
  expect(reports.find((line) => line.startsWith(mallory.keyId))).toContain('not a trusted operator');
});

it('ignores rows that are nested as deeply as the database allows, wherever a role can write them', async () => {
  const key = newKeyPair();
  await registry().add(signKeyEntry(entry(key, 'dana'), operator));
  // The maximum depends on the stack of the server.
  const insertDeep = async (table: string, keyId: string, depth = 100_000): Promise<void> => {
    const insert = `insert into ${table} (key_id, envelope) values ($1, $2)`;
    await db.query(insert, [keyId, '['.repeat(depth) + ']'.repeat(depth)]).catch(async (error: { code?: string }) => {
      if (error.code !== '54001') throw error;
      await insertDeep(table, keyId, Math.floor(depth * 0.9));
    });
  };
  await insertDeep('keys', '5'.repeat(64));
  await insertDeep('enrollments', '6'.repeat(64));
  await insertDeep('key_revocations', key.keyId);
  expect(await registry().find(key.keyId)).toMatchObject({ unsignedRevocation: true });
  expect(await keyEnvelopes(db, [operator.publicKey]).envelopesOf([key.keyId])).toHaveLength(1);
});

it('ignores an entry with an invalid key id or public key, though an operator signed it', async () => {
  const key = newKeyPair();
  const small = '01' + '0'.repeat(62);
  const predicate: KeyEntry = { ...entry(key, 'dana'), keyId: '4'.repeat(64), operatorKeyId: operator.keyId };
  const wrongId = signPredicate('key', predicate, operator);
  await insert('keys', '4'.repeat(64), wrongId);
  const r = registry();
  expect(await r.list()).toEqual([]);
  await expect(r.add(wrongId)).rejects.toMatchObject({ type: 'VALIDATION_ERROR', nonRetryable: true });
  expect(() => signKeyEntry(entry({ ...key, publicKey: small }, 'dana'), operator)).toThrow('small order');
});

it('keeps a key revoked if its revocation was tampered with', async () => {
  const key = newKeyPair();
  const r = registry();
  await r.add(signKeyEntry(entry(key, 'dana'), operator));
  await insert('key_revocations', key.keyId, { broken: true });
  clock = CACHE_MS + 1;
  const revoked = { revokedAt: expect.any(String), unsignedRevocation: true };
  expect(await r.find(key.keyId)).toMatchObject(revoked);
  expect(await r.activeKeysOf(['dana'])).toEqual([]);
  expect(reports.join()).toContain('still counts');
});

it('dates a revocation that cannot be verified by the clock of the database, not by what its writer says', async () => {
  const [r, forger] = [registry(), newKeyPair()];
  const keys = [newKeyPair(), newKeyPair()];
  for (const key of keys) await r.add(signKeyEntry(entry(key, 'dana'), operator));
  const before = Date.now();
  for (const [i, { keyId }] of keys.entries())
    await db.query('insert into key_revocations (key_id, envelope, added_at) values ($1, $2, $3)', [
      keyId,
      JSON.stringify(signKeyRevocation({ keyId, reason: '', revokedAt: '2030-01-01T00:00:00.000Z' }, forger)),
      i === 0 ? '2020-01-01' : '2030-01-01',
    ]);
  for (const { keyId } of keys) {
    const revokedAt = Date.parse((await r.snapshot(0)).find(keyId)?.revokedAt ?? '');
    expect(Math.abs(revokedAt - before)).toBeLessThan(60_000);
  }
});

it('revokes a key that a forged row has revoked before: time and evidence are those of the operator, stored once', async () => {
  const r = registry();
  const key = newKeyPair();
  const { keyId } = key;
  await r.add(signKeyEntry(entry(key, 'dana'), operator));
  await insert('key_revocations', keyId, signKeyRevocation({ keyId, reason: '', revokedAt: AT }, otherOperator));
  const revokedAt = '2026-01-02T03:04:06.000Z';
  const genuine = signKeyRevocation({ keyId, reason: 'stolen', revokedAt }, operator);
  await r.revoke(genuine);
  await r.revoke(signKeyRevocation({ keyId, reason: 'again', revokedAt: AT }, operator));
  expect(await r.find(keyId)).toEqual({ ...entry(key, 'dana'), keyId, operatorKeyId: operator.keyId, revokedAt });
  const [exported] = await keyEnvelopes(db, [operator.publicKey]).envelopesOf([keyId]);
  expect(exported?.registration.revocation).toEqual(genuine);
  expect((await db.query('select from key_revocations', [])).rowCount).toBe(2);
});

it('refuses entries and revocations of an untrusted operator, and a second owner of a key', async () => {
  const r = registry();
  const key = newKeyPair();
  await expect(r.add(signKeyEntry(entry(key, 'dana'), otherOperator))).rejects.toThrow('not a trusted operator');
  await r.add(signKeyEntry(entry(key, 'dana'), operator));
  await expect(r.add(signKeyEntry(entry(key, 'eli'), operator))).rejects.toThrow(
    'already registered for person "dana"',
  );
  await expect(
    r.revoke(signKeyRevocation({ keyId: key.keyId, reason: '', revokedAt: AT }, otherOperator)),
  ).rejects.toThrow('not a trusted operator');
  expect((await r.find(key.keyId))?.revokedAt).toBeNull();
  await expect(r.add({} as Envelope)).rejects.toMatchObject({ type: 'VALIDATION_ERROR' });
});

it('trusts several operators, and no entry without a trusted operator', async () => {
  const key = newKeyPair();
  await registry([operator, otherOperator]).add(signKeyEntry(entry(key, 'dana'), otherOperator));
  expect(await registry([operator, otherOperator]).list()).toHaveLength(1);
  expect(await registry([operator]).list()).toEqual([]);
  expect(await registry([]).list()).toEqual([]);
  expect(() => createKeyRegistry({ db, trustedOperators: ['nonsense'], now: () => 0 })).toThrow('64 lower-case hex');
});

it('reads entries again if the clock was set back', async () => {
  const key = newKeyPair();
  clock = 3_600_000;
  const [reader, writer] = [registry(), registry()];
  expect(await reader.find(key.keyId)).toBeNull();
  await writer.add(signKeyEntry(entry(key, 'dana'), operator));
  expect(await reader.find(key.keyId)).toBeNull();
  clock = 0;
  expect(await reader.find(key.keyId)).not.toBeNull();
});

it('throws instead of using old entries if the database is unavailable', async () => {
  const key = newKeyPair();
  let unavailable = false;
  const failing: Pick<Database, 'query'> = {
    query: (...args) =>
      (unavailable
        ? Promise.reject(new Error('STORE_UNAVAILABLE'))
        : db.query(...(args as Parameters<Database['query']>))) as never,
  };
  const r = createKeyRegistry({ db: failing, trustedOperators: [operator.publicKey], now: () => clock });
  await r.add(signKeyEntry(entry(key, 'dana'), operator));
  expect(await r.find(key.keyId)).not.toBeNull();
  unavailable = true;
  clock = CACHE_MS + 1;
  await expect(r.find(key.keyId)).rejects.toThrow('STORE_UNAVAILABLE');
  unavailable = false;
  expect(await r.find(key.keyId)).not.toBeNull();
});
