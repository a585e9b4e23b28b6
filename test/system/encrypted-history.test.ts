import { Connection, Client } from '@temporalio/client';
import { createPayloadCodec } from '../../workers/encryption/payload-codec';
import { SHOP_SQL, shopBundle, shopExtension } from '../support/shop-bundle';
import { startSystem, type System } from '../support/system';
import { waitingPrice } from './scenarios';

/** Any namespace writer's own client: no key, so it sends plain payloads and reads ciphertext. */
let outsider: Client;
let system: System;
beforeAll(async () => {
  system = await startSystem({
    name: 'encrypted',
    bundleText: shopBundle({}),
    extension: shopExtension,
    shopSql: SHOP_SQL,
    payloadCodec: createPayloadCodec({ current: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) }),
  });
  const connection = await Connection.connect({ address: process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '' });
  outsider = new Client({ connection, namespace: process.env['COUNTERSIGN_TEST_NAMESPACE'] ?? 'default' });
}, 120_000);
afterAll(async () => {
  await outsider.connection.close();
  await system.close();
});
jest.setTimeout(120_000);

test('a review runs to its commit, and no argument, result, message or summary in its history can be read without the key [P12]', async () => {
  const { changeId } = await system.submit(waitingPrice(21));
  await system.answer(changeId, 'alice', 'confirm');
  expect((await system.ended(changeId)).state).toBe('COMMITTED');

  const { events } = await outsider.workflow.getHandle(changeId).fetchHistory();
  const encodings = new Set<string>();
  // Search attributes are an index of the server's and stay plain, failures are in our own words.
  const visit = (value: unknown, path: string): void => {
    if (value === null || typeof value !== 'object' || /searchAttributes|failure|header/i.test(path)) return;
    const { metadata, data } = value as { metadata?: Record<string, Uint8Array>; data?: Uint8Array };
    if (metadata?.['encoding'] !== undefined && data != null)
      encodings.add(Buffer.from(metadata['encoding']).toString());
    for (const [key, each] of Object.entries(value)) visit(each, `${path}.${key}`);
  };
  visit(events, '');
  expect(events?.length).toBeGreaterThan(20);
  // SDK markers and null results hold no data of ours.
  encodings.delete('binary/null');
  expect([...encodings]).toEqual(['binary/encrypted']);
});

test('signals that are plain, or encrypted with a key that nobody has, hold no review open [P9, P12]', async () => {
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
  // The bare Temporal CLI has no key: a signed answer counts all the same.
  await handle.signal('answer', { answers: system.sign(await system.waiting(changeId), 'alice', 'confirm') });
  expect((await system.ended(changeId)).state).toBe('COMMITTED');
});
