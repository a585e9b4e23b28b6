import { z } from 'zod';
import type { KeyRing } from '../../storage/store/preview-cipher';
import { readJson } from '../json-file';

const KeyId = z
  .string()
  .regex(/^[a-zA-Z0-9._-]{1,64}$/, 'expected 1 to 64 letters, digits, dots, dashes or underscores');
const Key = z.string().regex(/^[0-9a-f]{64}$/, 'expected 32 bytes as 64 lower-case hex digits');
const KeyRingFile = z
  .strictObject({ current: KeyId, keys: z.record(KeyId, Key) })
  .refine(({ current, keys }) => Object.hasOwn(keys, current), 'current: expected the id of one of the keys');

/**
 * Reads a JSON file `{"current": id, "keys": {id: hex}}`. To rotate, add a key, give the file to every process, then name the
 * key as `current`; keep the old key as long as histories and stored previews use it. Throws ConfigError.
 */
export function readKeyRing(path: string): KeyRing {
  const { current, keys } = readJson(path, KeyRingFile);
  return { current, keys: new Map(Object.entries(keys).map(([id, hex]) => [id, Buffer.from(hex, 'hex')])) };
}

/** The keys of COUNTERSIGN_PAYLOAD_KEYS_FILE; null if it is not set. */
export function payloadKeys(env: Readonly<Record<string, string | undefined>>): KeyRing | null {
  const file = env['COUNTERSIGN_PAYLOAD_KEYS_FILE'];
  return file === undefined || file === '' ? null : readKeyRing(file);
}
