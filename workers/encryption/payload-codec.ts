/**
 * Encrypts what Temporal stores: arguments, results, messages, summaries and details of reviews.
 *
 * C1 Encryption gives confidentiality, not authenticity: a client of the namespace may still send plain payloads. Signatures
 *    authorize.
 * C2 A payload that cannot be decrypted is passed on unchanged. Throwing here would fail the workflow task, which Temporal
 *    retries indefinitely: one forged signal would block a review. The workflow's converter turns it into a value that no
 *    handler accepts.
 * C3 Each payload has a random nonce: equal plaintexts have different ciphertexts.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { KeyRing } from '../../storage/store/preview-cipher';

/** The encoding of Temporal's samples, so that other tools recognise an encrypted payload. */
const ENCODING = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
/** As in the file of keys. A forged payload can name any id. */
const MAX_KEY_ID = 64;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** AES-256-GCM over the whole payload with its metadata; the key id is authenticated as additional data. */
export function createPayloadCodec(ring: KeyRing): PayloadCodec {
  return {
    encode: async (payloads) => payloads.map((payload) => encrypt(payload, ring)),
    decode: async (payloads) => payloads.map((payload) => decrypt(payload, ring) ?? payload),
  };
}

/** Id of the key of the first payload that none of the codecs decrypts: the key is missing or another one here, or it was forged (C2). */
export async function missingKey(payloads: Payload[], codecs: readonly PayloadCodec[]): Promise<string | null> {
  let decoded = payloads;
  for (const codec of codecs) decoded = await codec.decode(decoded);
  const unreadable = decoded.find(({ metadata }) => text(metadata?.['encoding']) === ENCODING);
  return unreadable === undefined ? null : text(unreadable.metadata?.[KEY_ID]).slice(0, MAX_KEY_ID);
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

/** Null for a payload that is not encrypted, or not with a key of the ring. */
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
    return null; // Forged or damaged: C2.
  }
}

function text(bytes: Uint8Array | null | undefined): string {
  return bytes == null ? '' : Buffer.from(bytes).toString('latin1');
}
