import type { AnswerCode } from '../../policy/contracts/answer';
import { canonicalJson, type JsonValue } from '../../policy/contracts/canonical-json';
import { sha256HexOfText } from '../../policy/contracts/hash';
import type { LedgerEntry } from '../../policy/evidence/ledger-port';

/** A larger refused answer is recorded by its digest only: whoever sends them must not fill the ledger. */
export const MAX_RECORDED_CHARS = 16 * 1024;

/** The row of a refused attempt. */
export function refusalEntry(of: {
  readonly sent: unknown;
  readonly refused: { readonly code: AnswerCode; readonly message: string; readonly violationId: string | null };
  readonly via: string;
  readonly at: string;
  readonly actor: string;
  readonly factKey: string;
}): LedgerEntry {
  const { sent, refused, via, at, actor, factKey } = of;
  const { code, message, violationId } = refused;
  return { kind: 'answer_refused', at, actor, body: { code, message, violationId, via, ...recorded(sent) }, factKey };
}

function recorded(sent: unknown): { readonly [key: string]: JsonValue } {
  let text: string;
  try {
    text = canonicalJson(sent);
  } catch (error) {
    return { digest: null, unreadable: error instanceof TypeError ? error.message.slice(0, 300) : 'nested too deep' };
  }
  const digest = sha256HexOfText(text);
  return text.length > MAX_RECORDED_CHARS
    ? { digest, size: text.length }
    : { digest, answer: JSON.parse(text) as JsonValue };
}
