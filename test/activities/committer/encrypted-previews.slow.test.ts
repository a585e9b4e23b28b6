import { stagingRecords } from '../../../activities/committer/staging-records';
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import { previewSha, stagingSha, type StagingRecord } from '../../../policy/contracts/staging-record';
import type { KeyRing } from '../../../storage/store/preview-cipher';
import { stagingRecord } from '../../../dev/staging-record';
import { useDatabase } from '../../support/postgres';

const database = useDatabase();

const ring = (current: string, ...ids: string[]): KeyRing => ({
  current,
  keys: new Map(ids.map((id) => [id, Buffer.alloc(32, id)])),
});
const SECRET = 'ada@example.com';
const preview: JsonObject = { tables: [{ table: 'public.people', rows: [{ before: { mail: SECRET }, after: null }] }] };
const record: StagingRecord = { ...stagingRecord({}), previewSha: previewSha(preview) };

let last = 0;
async function staged(keys: KeyRing | null, of: StagingRecord = record): Promise<string> {
  const changeId = String(++last).padStart(64, '0');
  await stagingRecords(database.open('cs_commit'), keys).put(changeId, stagingSha(of), of, preview);
  return changeId;
}

const read = (changeId: string, keys: KeyRing | null): Promise<JsonObject | null> =>
  stagingRecords(database.open('cs_gateway'), keys).preview(changeId, record);

/** The stored value as text. */
async function stored(changeId: string): Promise<string> {
  const { rows } = await database
    .open('cs_gateway')
    .query<{ preview: string }>('select preview::text as preview from staging_records where change_id = $1', [
      changeId,
    ]);
  return rows[0]?.preview ?? '';
}

/** As an owner of the database can. */
async function edit(changeId: string, value: string | null): Promise<void> {
  const owner = database.open('admin');
  await owner.query('alter table staging_records disable trigger append_only');
  await owner.query('update staging_records set preview = $2 where change_id = $1', [changeId, value]);
  await owner.query('alter table staging_records enable trigger append_only');
}

it('encrypts a preview if there is a key, each time to another ciphertext, and decrypts it for the gateway [P12]', async () => {
  const keys = ring('k1', 'k1');
  const [a, b] = [await staged(keys), await staged(keys)];
  expect(await stored(a)).not.toContain(SECRET);
  expect(await stored(a)).not.toContain('people');
  expect(JSON.parse(await stored(a)).data).not.toBe(JSON.parse(await stored(b)).data);
  expect(await read(a, keys)).toEqual(preview);
});

it('decrypts with an older key of the ring after a rotation, and encrypts with the current one', async () => {
  const old = await staged(ring('k1', 'k1'));
  const rotated = ring('k2', 'k1', 'k2');
  expect(await read(old, rotated)).toEqual(preview);
  expect(JSON.parse(await stored(await staged(rotated)))).toMatchObject({ keyId: 'k2' });
});

it('reads previews that were stored before there was a key', async () => {
  expect(await read(await staged(null), ring('k1', 'k1'))).toEqual(preview);
});

it.each([
  ['without keys', null],
  ['without this key', ring('k2', 'k2')],
])('names the missing key and the setting in a process %s', async (_, keys) => {
  const changeId = await staged(ring('k1', 'k1'));
  await expect(read(changeId, keys)).rejects.toMatchObject({
    type: 'CONFIGURATION_ERROR',
    message: expect.stringMatching(/the key "k1", which this process does not have.*COUNTERSIGN_PAYLOAD_KEYS_FILE/),
  });
});

it('fails with another key of the same id', async () => {
  const changeId = await staged(ring('k1', 'k1'));
  const other: KeyRing = { current: 'k1', keys: new Map([['k1', Buffer.alloc(32, 'other')]]) };
  await expect(read(changeId, other)).rejects.toMatchObject({ type: 'DIGEST_MISMATCH' });
});

const shorter = (base64: string): string => Buffer.from(base64, 'base64').subarray(0, 10).toString('base64');
const flipped = (base64: string): string => {
  const bytes = Buffer.from(base64, 'base64');
  bytes[3] = (bytes[3] ?? 0) ^ 1;
  return bytes.toString('base64');
};

describe('of a preview that was changed in the database, nothing is returned:', () => {
  const keys = ring('k1', 'k1', 'k2');
  it.each<[string, (value: Record<string, string>) => object | null]>([
    ['one flipped bit of the ciphertext', (value) => ({ ...value, data: flipped(value['data'] ?? '') })],
    ['one flipped bit of the nonce', (value) => ({ ...value, nonce: flipped(value['nonce'] ?? '') })],
    ['a nonce that is too short', (value) => ({ ...value, nonce: shorter(value['nonce'] ?? '') })],
    ['fewer bytes than a tag', (value) => ({ ...value, data: shorter(value['data'] ?? '') })],
    ['the id of another key', (value) => ({ ...value, keyId: 'k2' })],
    ['a further member', (value) => ({ ...value, more: 1 })],
    ['another preview that is not encrypted', () => ({ stored: 'plain', preview: { tables: [] } })],
    ['the preview without the member `stored`', () => preview],
    ['an empty object', () => ({})],
    ['null', () => null],
  ])('%s', async (_, change) => {
    const changeId = await staged(keys);
    const value = change(JSON.parse(await stored(changeId)));
    await edit(changeId, value === null ? null : JSON.stringify(value));
    await expect(read(changeId, keys)).rejects.toMatchObject({ type: 'DIGEST_MISMATCH', nonRetryable: true });
  });

  it('the ciphertext of the same rows of another change', async () => {
    const [a, b] = [await staged(keys), await staged(keys)];
    await edit(a, await stored(b));
    await expect(read(a, keys)).rejects.toMatchObject({ type: 'DIGEST_MISMATCH' });
  });

  it('a deleted row', async () => {
    await expect(read('f'.repeat(64), keys)).rejects.toMatchObject({ type: 'DIGEST_MISMATCH' });
  });
});

it('stores nothing for a dry run without a preview', async () => {
  const without = { ...record, previewSha: null };
  const changeId = await staged(ring('k1', 'k1'), without);
  expect(await stored(changeId)).toBe('');
  expect(await stagingRecords(database.open('cs_gateway'), null).preview(changeId, without)).toBeNull();
});
