import type { JsonValue } from '../contracts/canonical-json';
import { decodeUtf8 } from './utf8';

/** The value of a JSON document, so that white space and the order of members do not matter. Null if it is not JSON. */
export function normalizedJson(raw: Uint8Array): JsonValue {
  const text = decodeUtf8(raw);
  if (text === null) return null;
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null; // Not JSON, or nested too deeply.
    throw error;
  }
}
