import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter } from '@temporalio/common';
import { readKeyRing } from '../../../workers/encryption/key-ring';
import { createPayloadCodec } from '../../../workers/encryption/payload-codec';
import { createCodecServer } from '../../../workers/encryption/codec-server';

const ring = (current: string, ...ids: string[]) => ({
  current,
  keys: new Map(ids.map((id) => [id, Buffer.alloc(32, id)])),
});
const SECRET = { reason: 'row 42 of customers' };
const payload = () => defaultPayloadConverter.toPayload(SECRET);

it('encrypts the whole payload with its metadata, and decrypts it [P12]', async () => {
  const codec = createPayloadCodec(ring('k1', 'k1'));
  const [hidden] = await codec.encode([payload()]);
  expect(Buffer.from(hidden?.data ?? []).toString('latin1')).not.toContain('customers');
  expect(JSON.stringify(hidden)).not.toContain('json/plain');
  const [shown] = await codec.decode(hidden === undefined ? [] : [hidden]);
  expect(defaultPayloadConverter.fromPayload(shown!)).toEqual(SECRET);
});

it('encrypts equal payloads to different ciphertexts', async () => {
  const codec = createPayloadCodec(ring('k1', 'k1'));
  const [a, b] = await codec.encode([payload(), payload()]);
  expect(Buffer.from(a?.data ?? []).equals(Buffer.from(b?.data ?? []))).toBe(false);
});

it('decrypts with an older key of the ring, and encrypts with the current one', async () => {
  const [old] = await createPayloadCodec(ring('k1', 'k1')).encode([payload()]);
  const rotated = createPayloadCodec(ring('k2', 'k1', 'k2'));
  const [shown] = await rotated.decode([old!]);
  expect(defaultPayloadConverter.fromPayload(shown!)).toEqual(SECRET);
  const [fresh] = await rotated.encode([payload()]);
  expect(Buffer.from(fresh?.metadata?.['encryption-key-id'] ?? []).toString()).toBe('k2');
});

it.each([
  ['a key that the ring does not have', (p: Uint8Array) => ({ id: 'k9', data: p })],
  ['one flipped bit', (p: Uint8Array) => ({ id: 'k1', data: p.map((byte, i) => (i === 20 ? byte ^ 1 : byte)) })],
  ['too few bytes for a tag', (p: Uint8Array) => ({ id: 'k1', data: p.subarray(0, 20) })],
  ['the id of another key of the ring', (p: Uint8Array) => ({ id: 'k2', data: p })],
])(
  'passes on a payload unchanged, without throwing, for %s: a workflow task that throws is retried indefinitely',
  async (_, damage) => {
    const codec = createPayloadCodec(ring('k1', 'k1', 'k2'));
    const [hidden] = await codec.encode([payload()]);
    const { id, data } = damage(hidden?.data ?? new Uint8Array());
    const forged = { metadata: { ...hidden?.metadata, 'encryption-key-id': Buffer.from(id) }, data };
    expect(await codec.decode([forged])).toEqual([forged]);
  },
);

it('passes on plain payloads when decoding: the Temporal CLI sends them', async () => {
  const plain = payload();
  expect(await createPayloadCodec(ring('k1', 'k1')).decode([plain])).toEqual([plain]);
});

describe('the key file', () => {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-keys-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  it.each([
    ['a short key', { current: 'a', keys: { a: '00' } }, 'keys.a'],
    ['a current key that is not among the keys', { current: 'b', keys: { a: '0'.repeat(64) } }, 'current'],
    ['no keys', { current: 'a', keys: {} }, 'current'],
  ])('is refused with %s', (_, content, place) => {
    const path = join(dir, 'keys.json');
    writeFileSync(path, JSON.stringify(content));
    expect(() => readKeyRing(path)).toThrow(place);
  });
});

describe('the codec server', () => {
  const codec = createPayloadCodec(ring('k1', 'k1'));
  const app = createCodecServer(codec, 'http://ui.test');
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    app.request(path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  const base64 = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('base64');

  it('decodes for the UI what workers encoded', async () => {
    const [hidden] = await codec.encode([payload()]);
    const metadata = Object.fromEntries(Object.entries(hidden?.metadata ?? {}).map(([k, v]) => [k, base64(v)]));
    const answer = await post('/decode', JSON.stringify({ payloads: [{ metadata, data: base64(hidden?.data) }] }), {
      origin: 'http://ui.test',
    });
    const { payloads } = (await answer.json()) as { payloads: { data: string }[] };
    expect(JSON.parse(Buffer.from(payloads[0]?.data ?? '', 'base64').toString())).toEqual(SECRET);
    expect(answer.headers.get('access-control-allow-origin')).toBe('http://ui.test');
  });

  it.each([
    ['a page of another origin', '{"payloads": []}', { origin: 'http://evil.test' }, 403],
    ['invalid JSON', 'no', {}, 400],
    ['a payload with invalid base64', '{"payloads": [{"data": "%"}]}', {}, 400],
  ])('refuses %s', async (_, body, headers, status) => {
    expect((await post('/decode', body, headers as Record<string, string>)).status).toBe(status);
  });
});
