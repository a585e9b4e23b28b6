import { utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson, type JsonValue } from './canonical-json';
import { MAX_METADATA_BYTES } from './limits';

/** Why metadata is refused although it is a JSON object: it cannot be hashed, or is too large. Null if it is valid. */
export function metadataProblem(metadata: Readonly<Record<string, JsonValue>>): string | null {
  for (const name of Object.keys(metadata))
    if (name === '' || name.length > 128) return 'expected member names of 1 to 128 characters';
  try {
    const size = utf8ToBytes(canonicalJson(metadata)).length;
    return size > MAX_METADATA_BYTES ? `expected at most ${MAX_METADATA_BYTES} bytes of JSON, got ${size}` : null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
