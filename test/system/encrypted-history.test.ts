import { Connection, Client } from '@temporalio/client';
import { createPayloadCodec } from '../../workers/encryption/payload-codec';
import { SHOP_SQL, shopBundle, shopExtension } from '../support/shop-bundle';
import { startSystem, type System } from '../support/system';
import { waitingPrice } from './scenarios';

/** A client with namespace access but without the payload key: it sends plain payloads and reads ciphertext. */
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

test('no argument, result, message or summary in the history of a committed review can be read without the key [P12]', async () => {
  const { changeId } = await system.submit(waitingPrice(21));
  await system.answer(changeId, 'alice', 'confirm');
  expect((await system.ended(changeId)).state).toBe('COMMITTED');

  const { events } = await outsider.workflow.getHandle(changeId).fetchHistory();
  const encodings = new Set<string>();
  // Search attributes are indexed by the server and stay plain; failure messages contain no values of the diff.
  const visit = (value: unknown, path: string): void => {
    if (value === null || typeof value !== 'object' || /searchAttributes|failure|header/i.test(path)) return;
    const { metadata, data } = value as { metadata?: Record<string, Uint8Array>; data?: Uint8Array };
    if (metadata?.['encoding'] !== undefined && data != null)
      encodings.add(Buffer.from(metadata['encoding']).toString());
    for (const [key, each] of Object.entries(value)) visit(each, `${path}.${key}`);
  };
  visit(events, '');
  expect(events?.length).toBeGreaterThan(20);
  // SDK markers and null results contain no application data.
  encodings.delete('binary/null');
  expect([...encodings]).toEqual(['binary/encrypted']);
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
