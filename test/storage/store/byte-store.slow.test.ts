import { createByteStore } from '../../../storage/store/byte-store';
import type { Database } from '../../../storage/database/database';
import { MAX_DIFF_BYTES } from '../../../policy/contracts/diff';
import { sha256Hex } from '../../../policy/contracts/hash';
import { useDatabase } from '../../support/postgres';

const database = useDatabase();
let admin: Database;
let gateway: Database;
let judge: Database;
beforeAll(async () => {
  [admin, gateway, judge] = [database.open('admin'), database.open('cs_gateway'), database.open('cs_judge')];
});

it('stores arbitrary bytes once under their digest', async () => {
  const store = createByteStore(gateway);
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  const digest = await store.put('acme', bytes);
  expect(digest).toBe(sha256Hex(bytes));
  expect(await store.put('acme', bytes)).toBe(digest);
  expect(await createByteStore(judge).get('acme', digest)).toEqual(bytes);
  expect(await store.has('acme', digest)).toBe(true);
  const { rows } = await admin.query('select size from blobs where digest = $1', [digest]);
  expect(rows).toEqual([{ size: 256 }]);
  const view = new Uint8Array(new Uint8Array([9, 1, 2, 9]).buffer, 1, 2);
  expect(await store.get('acme', await store.put('acme', view))).toEqual(new Uint8Array([1, 2]));
});

it('hides the bytes of one tenant from another', async () => {
  const store = createByteStore(gateway);
  const digest = await store.put('acme', new Uint8Array([1, 2, 3]));
  expect(await store.has('other', digest)).toBe(false);
  await expect(store.get('other', digest)).rejects.toMatchObject({ type: 'VALIDATION_ERROR', nonRetryable: true });
});

it('fails permanently for bytes that do not match the digest they are stored under [P3]', async () => {
  const store = createByteStore(gateway);
  const digest = await store.put('acme', new Uint8Array([4, 5, 6]));
  await admin.query('alter table blobs drop constraint digest_of_bytes');
  await admin.query('update blobs set bytes = $1 where digest = $2', [Buffer.from([4, 5, 7]), digest]);
  await expect(store.get('acme', digest)).rejects.toMatchObject({ type: 'DIGEST_MISMATCH', nonRetryable: true });
});

it('accepts 1 MiB and refuses one byte more', async () => {
  const store = createByteStore(gateway);
  const digest = await store.put('acme', new Uint8Array(MAX_DIFF_BYTES));
  expect((await store.get('acme', digest)).length).toBe(MAX_DIFF_BYTES);
  await expect(store.put('acme', new Uint8Array(MAX_DIFF_BYTES + 1))).rejects.toMatchObject({
    type: 'VALIDATION_ERROR',
    nonRetryable: true,
  });
});
