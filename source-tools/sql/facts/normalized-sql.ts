import type { JsonValue } from '../../../policy/contracts/canonical-json';
import { Refused } from '../../../policy/text/refusal';
import { decodeUtf8 } from '../../../policy/text/utf8';
import { refuseUnparsable } from './parse-bounds';
import { loadParser, parseStatements } from './parser';
import { rootSource } from './source';

/** Members of the parser's tree that say where a node is in the text. */
const POSITION = /^(?:.*_)?(?:location|list_start|list_end)$|^stmt_len$/;

/** The statements without positions, so that comments, white space and the case of keywords do not matter. Null if they do not parse. */
export async function normalizedSql(raw: Uint8Array): Promise<JsonValue> {
  await loadParser();
  const text = decodeUtf8(raw);
  if (text === null) return null;
  try {
    refuseUnparsable(rootSource(raw, text));
    const parsed = parseStatements(text);
    return parsed.ok ? parsed.value.map(({ stmt }) => withoutPositions(stmt)) : null;
  } catch (error) {
    if (error instanceof Refused || error instanceof RangeError) return null; // Too complex, or nested too deeply.
    throw error;
  }
}

function withoutPositions(node: unknown): JsonValue {
  if (Array.isArray(node)) return node.map(withoutPositions);
  if (typeof node !== 'object' || node === null) return node as JsonValue;
  const members = Object.entries(node).filter(([name, value]) => !(typeof value === 'number' && POSITION.test(name)));
  return Object.fromEntries(members.map(([name, value]) => [name, withoutPositions(value)]));
}
