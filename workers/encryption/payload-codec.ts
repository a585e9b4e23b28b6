/**
 * Encrypts what Temporal keeps (DESIGN P12): arguments, results, messages, summaries and details of reviews.
 *
 * C1 Encryption hides and proves nothing: whoever writes to the namespace may still send plain payloads. Authority is in signatures.
 * C2 A payload that cannot be decrypted stays as it is. Throwing here would fail the workflow task, which is retried for
 *    ever: one forged signal would hold a review open. The workflow's converter makes it a value that no handler accepts.
 * C3 One nonce for each payload, random: the same text twice looks different.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { KeyRing } from './key-ring';

/** As Temporal's own samples write them, so that other tools recognise an encrypted payload. */
const ENCODING = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** AES-256-GCM over the whole payload, its own metadata included; the key's id is authenticated with it. */
export function createPayloadCodec(ring: KeyRing): PayloadCodec {
  return {
    encode: async (payloads) => payloads.map((payload) => encrypt(payload, ring)),
    decode: async (payloads) => payloads.map((payload) => decrypt(payload, ring) ?? payload),
  };
}

function encrypt(payload: Payload, { current, keys }: KeyRing): Payload {
  const key = keys.get(current);
  if (key === undefined) throw new TypeError(`No payload key "${current}"`);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(current));
  const plain = temporal.api.common.v1.Payload.encode(payload).finish();
  return {
    metadata: { encoding: Buffer.from(ENCODING), [KEY_ID]: Buffer.from(current) },
    data: Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]),
  };
}

/** Null for what is not encrypted, or not by a key of the ring. */
function decrypt({ metadata, data }: Payload, { keys }: KeyRing): Payload | null {
  if (metadata == null || data == null || text(metadata['encoding']) !== ENCODING) return null;
  const id = text(metadata[KEY_ID]);
  const key = keys.get(id);
  if (key === undefined || data.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, key, data.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(id)).setAuthTag(data.subarray(-TAG_BYTES));
  try {
    const plain = Buffer.concat([decipher.update(data.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    return temporal.api.common.v1.Payload.decode(plain);
  } catch {
    return null; // Forged, damaged, or no payload at all: C2.
  }
}

function text(bytes: Uint8Array | null | undefined): string {
  return bytes == null ? '' : Buffer.from(bytes).toString('latin1');
}
