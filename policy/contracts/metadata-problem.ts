import { utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson, type JsonValue } from './canonical-json';
import { MAX_METADATA_BYTES } from './limits';

/** Why metadata of the right shape is still refused: it cannot be hashed, or is too large. Null where nothing is wrong. */
export function metadataProblem(metadata: Readonly<Record<string, JsonValue>>): string | null {
  try {
    const size = utf8ToBytes(canonicalJson(metadata)).length;
    return size > MAX_METADATA_BYTES ? `expected at most ${MAX_METADATA_BYTES} bytes of JSON, got ${size}` : null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
