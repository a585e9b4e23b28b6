import type { AnswerCode } from '../../policy/contracts/answer';
import { canonicalJson, type JsonValue } from '../../policy/contracts/canonical-json';
import { sha256HexOfText } from '../../policy/contracts/hash';
import type { LedgerEntry } from '../../policy/evidence/ledger-port';

/** Only the digest of a larger refused answer is recorded, so that a hostile sender cannot fill the ledger. */
export const MAX_RECORDED_CHARS = 16 * 1024;

/** The ledger row of a refused answer, keyed by its digest and the code: the same answer again is counted on the row. */
export function refusalEntry(of: {
  readonly sent: unknown;
  readonly refused: { readonly code: AnswerCode; readonly message: string; readonly violationId: string | null };
  readonly via: string;
  readonly at: string;
}): LedgerEntry {
  const { sent, refused, via, at } = of;
  const { code, message, violationId } = refused;
  const content = contentOf(sent);
  const factKey = `#${code}:${String(content['digest'] ?? 'unreadable')}`;
  return { kind: 'answer_refused', at, body: { code, message, violationId, via, ...content }, factKey };
}

function contentOf(sent: unknown): { readonly [key: string]: JsonValue } {
  let text: string;
  try {
    text = canonicalJson(sent);
  } catch (error) {
    return { digest: null, unreadable: error instanceof TypeError ? error.message.slice(0, 300) : 'nested too deeply' };
  }
  const digest = sha256HexOfText(text);
  return text.length > MAX_RECORDED_CHARS
    ? { digest, size: text.length }
    : { digest, answer: JSON.parse(text) as JsonValue };
}
