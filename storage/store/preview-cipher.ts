/**
 * Encrypts previews (rows of a target before and after a dry run) with AES-256-GCM before they are stored.
 *
 * E1 A preview is encrypted if the process has keys; it is decrypted with the key that it names. Stored without keys, it stays
 *    readable.
 * E2 A ciphertext belongs to one preview of one change: the change and `previewSha` are authenticated with it.
 * E3 A preview that is returned hashes to the `previewSha` that the dry run recorded. Anything else throws, so that no preview is
 *    ever missing or replaced without an error.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson, isJsonObject, type JsonObject } from '../../policy/contracts/canonical-json';
import { CountersignFailure, misconfigured } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import { previewSha as previewShaOf } from '../../policy/contracts/staging-record';

/** Keys of 32 bytes: with `current` new data is encrypted, other data is decrypted with the key that it names. */
export interface KeyRing {
  readonly current: string;
  readonly keys: ReadonlyMap<string, Uint8Array>;
}

/** Which preview it is. */
interface PreviewOf {
  readonly changeId: string;
  readonly previewSha: string;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Keys for previews are derived, so that a codec server, which decrypts payloads with the same ring, decrypts no preview. */
const PURPOSE = 'countersign/preview/v1';

const StoredPreview = z.discriminatedUnion('stored', [
  z.strictObject({ stored: z.literal('plain'), preview: z.custom<JsonObject>(isJsonObject) }),
  z.strictObject({ stored: z.literal(CIPHER), keyId: z.string(), nonce: z.base64(), data: z.base64() }),
]);
type Encrypted = Extract<z.infer<typeof StoredPreview>, { stored: typeof CIPHER }>;

/** The value to store. */
export function sealPreview(ring: KeyRing | null, preview: JsonObject, of: PreviewOf): JsonObject {
  if (ring === null) return { stored: 'plain', preview };
  const keyId = ring.current;
  const key = ring.keys.get(keyId);
  if (key === undefined) throw new TypeError(`No payload key "${keyId}"`);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, derived(key), nonce, { authTagLength: TAG_BYTES }).setAAD(bound(of, keyId));
  const data = Buffer.concat([cipher.update(canonicalJson(preview), 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { stored: CIPHER, keyId, nonce: nonce.toString('base64'), data: data.toString('base64') };
}

/**
 * Throws CONFIGURATION_ERROR if this process does not have the key that the stored preview names, and DIGEST_MISMATCH if it is not
 * the preview of this change.
 */
export function openPreview(ring: KeyRing | null, stored: unknown, of: PreviewOf): JsonObject {
  const parsed = StoredPreview.safeParse(stored);
  if (!parsed.success) throw changed(of, 'the stored value has another shape');
  const preview = parsed.data.stored === CIPHER ? decrypt(ring, parsed.data, of) : parsed.data.preview;
  if (previewShaOf(preview) !== of.previewSha) throw changed(of, 'it has another hash');
  return preview;
}

function decrypt(ring: KeyRing | null, { keyId, nonce, data }: Encrypted, of: PreviewOf): JsonObject {
  const key = ring?.keys.get(keyId);
  if (key === undefined)
    throw misconfigured(
      `The preview of change ${of.changeId} is encrypted with the key "${keyId}", which this process does not have. ` +
        'COUNTERSIGN_PAYLOAD_KEYS_FILE must name a file with this key',
    );
  const [iv, bytes] = [Buffer.from(nonce, 'base64'), Buffer.from(data, 'base64')];
  if (iv.length !== NONCE_BYTES || bytes.length < TAG_BYTES) throw changed(of, 'the stored value is too short');
  const decipher = createDecipheriv(CIPHER, derived(key), iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(bound(of, keyId)).setAuthTag(bytes.subarray(-TAG_BYTES));
  let plain: Buffer;
  try {
    plain = Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch (error) {
    // The error of node:crypto for a wrong tag has no code.
    throw changed(of, `decryption with the key "${keyId}" failed`, error);
  }
  return JSON.parse(plain.toString('utf8')) as JsonObject;
}

function derived(key: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', PURPOSE, 32));
}

function bound({ changeId, previewSha }: PreviewOf, keyId: string): Buffer {
  return Buffer.from(canonicalJson({ type: PURPOSE, changeId, previewSha, keyId }));
}

function changed({ changeId }: PreviewOf, how: string, cause?: unknown): CountersignFailure {
  return new CountersignFailure({
    type: FailureType.DigestMismatch,
    message: `The stored preview of change ${changeId} is not the one of its dry run: ${how}`,
    nonRetryable: true,
    cause,
  });
}
