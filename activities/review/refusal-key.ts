import { canonicalJson } from '../../policy/contracts/canonical-json';
import { sha256HexOfText } from '../../policy/contracts/hash';

/**
 * Key of the row of a refusal, by the check that refused and the digest of what was refused: another message has another row, and the
 * same one again is counted on its row.
 */
export function refusalKey(check: string, message: unknown): string {
  return `refused:${check}#${digestOf(message)}`;
}

function digestOf(message: unknown): string {
  try {
    return sha256HexOfText(canonicalJson(message));
  } catch (error) {
    // Not JSON, or nested too deeply. All such messages share one row.
    if (error instanceof TypeError || error instanceof RangeError) return 'unreadable';
    throw error;
  }
}
