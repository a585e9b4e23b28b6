import { z } from 'zod';
import { readJson } from '../json-file';

const KeyId = z
  .string()
  .regex(/^[a-zA-Z0-9._-]{1,64}$/, 'expected 1 to 64 letters, digits, dots, dashes or underscores');
const Key = z.string().regex(/^[0-9a-f]{64}$/, 'expected 32 bytes as 64 lower-case hex digits');
const KeyRingFile = z
  .strictObject({ current: KeyId, keys: z.record(KeyId, Key) })
  .refine(({ current, keys }) => Object.hasOwn(keys, current), 'current: expected the id of one of the keys');

/** Keys of the Temporal history: new payloads are encrypted with `current`, older ones read with the key that they name. */
export interface KeyRing {
  readonly current: string;
  readonly keys: ReadonlyMap<string, Uint8Array>;
}

/**
 * A JSON file `{"current": id, "keys": {id: hex}}`. To rotate, add a key, give the file to every process, then name it as `current`;
 * keep the old one as long as a history that holds it. Throws ConfigError.
 */
export function readKeyRing(path: string): KeyRing {
  const { current, keys } = readJson(path, KeyRingFile);
  return { current, keys: new Map(Object.entries(keys).map(([id, hex]) => [id, Buffer.from(hex, 'hex')])) };
}
