import { Connection, Client } from '@temporalio/client';
import { ReviewClient } from '../../client/review-client';
import { query } from '../../dev/query';
import { openDatabase } from '../../storage/database/database';
import { clientLedger } from '../../workers/client-ledger';
import { createPayloadCodec } from '../../workers/encryption/payload-codec';
import { SHOP } from '../support/shop-bundle';
import { useSystem } from '../support/system';
import { waitingPrice } from './scenarios';

const PAYLOAD_KEYS = { current: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) };

const system = useSystem({ ...SHOP, name: 'encrypted', payloadKeys: PAYLOAD_KEYS });
/** A client with namespace access but without the payload key: it sends plain payloads and reads ciphertext. */
let outsider: Client;
beforeAll(async () => {
  const connection = await Connection.connect({ address: process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '' });
  outsider = new Client({ connection, namespace: process.env['COUNTERSIGN_TEST_NAMESPACE'] ?? 'default' });
});
afterAll(() => outsider.connection.close());

test('no argument, result, message or summary in the history of a committed review can be read without the key [P12]', async () => {
  const { changeId } = await system.submit(waitingPrice(21));
  await system.answer(changeId, 'alice', 'confirm');
  expect((await system.ended(changeId)).state).toBe('COMMITTED');

  const { events } = await outsider.workflow.getHandle(changeId).fetchHistory();
  const encodings = new Set<string>();
  // Search attributes are indexed by the server and stay plain; failure messages contain no values of the diff.
  const markers: unknown[] = [];
  const visit = (value: unknown, path: string): void => {
    if (value === null || typeof value !== 'object' || /searchAttributes|failure|header/i.test(path)) return;
    const { metadata, data } = value as { metadata?: Record<string, Uint8Array>; data?: Uint8Array };
    if (metadata?.['encoding'] !== undefined && data != null) {
      // What the SDK notes of a local activity: its type, number and times.
      if (/markerRecorded.*\.details\.data\./.test(path)) markers.push(JSON.parse(Buffer.from(data).toString()));
      else encodings.add(Buffer.from(metadata['encoding']).toString());
    }
    for (const [key, each] of Object.entries(value)) visit(each, `${path}.${key}`);
  };
  visit(events, '');
  expect(events?.length).toBeGreaterThan(20);
  // SDK markers and null results contain no application data.
  encodings.delete('binary/null');
  expect([...encodings]).toEqual(['binary/encrypted']);
  expect(markers.length).toBeGreaterThan(1);
  for (const marker of markers) expect(Object.keys(marker as object).toSorted()).toEqual(NOTED);
});

const NOTED = ['activity_id', 'activity_type', 'attempt', 'backoff', 'complete_time', 'original_schedule_time', 'seq'];

test('the rows of the dry run are encrypted in the store, and a client without the key gets an error, not a review without rows [P12]', async () => {
  const { changeId } = await system.submit(waitingPrice(23));
  await system.waiting(changeId);
  const shown = await system.countersign.review(changeId);
  expect(JSON.stringify(shown.preview)).toContain('"before"');
  const rows = await query(
    system.setup.databaseUrls.cs_gateway,
    'select preview::text as preview from staging_records where change_id = $1',
    [changeId],
  );
  expect(rows).toEqual([{ preview: expect.stringMatching(/^\{"stored":"aes-256-gcm","keyId":"k1",/) }]);
  const db = openDatabase({ url: system.setup.databaseUrls.cs_gateway, applicationName: 'test' });
  const without = clientLedger({
    db,
    databaseUrl: system.setup.databaseUrls.cs_gateway,
    applicationName: 'test',
    operators: [system.setup.keys.operator.key.publicKey],
    payloadKeys: null,
    now: () => new Date(),
  });
  const reader = new ReviewClient({ temporal: system.temporal, ledger: without, trust: null });
  await expect(reader.bundle(changeId)).rejects.toMatchObject({
    code: 'not_verified',
    message: expect.stringContaining('COUNTERSIGN_PAYLOAD_KEYS_FILE'),
  });
  expect(await reader.bundle(changeId, { preview: false })).toMatchObject({ changeId, preview: null });
  await without.close();
  await db.close();
});

test('plain signals and signals encrypted with an unknown key do not block a review [P9, P12]', async () => {
  const { changeId } = await system.submit(waitingPrice(22));
  const handle = outsider.workflow.getHandle(changeId);
  const forger = new Client({
    connection: outsider.connection,
    namespace: outsider.options.namespace,
    dataConverter: {
      payloadCodecs: [createPayloadCodec({ current: 'k1', keys: new Map([['k1', Buffer.alloc(32, 8)]]) })],
    },
  });
  await forger.workflow.getHandle(changeId).signal('answer', { answers: [] });
  // A client without the payload key can send an answer in plain text: only its signature matters.
  await handle.signal('answer', { answers: system.sign(await system.waiting(changeId), 'alice', 'confirm') });
  expect((await system.ended(changeId)).state).toBe('COMMITTED');
});
