/** Ledger rows of answers and withdrawals, accepted or refused. */
import { canonicalJson, type JsonValue } from '../../policy/contracts/canonical-json';
import { MAX_REFUSED_ROWS, type LedgerEntry } from '../../policy/evidence/ledger-port';
import type { CountedAnswer } from '../../signing/assess-answer';
import { answerFactKey, answerRowKind } from '../../signing/verify-answers';
import { sha256HexOfText } from '../../policy/contracts/hash';

/** The row of an answer that counts. */
export function acceptedEntry(
  sent: unknown,
  answer: CountedAnswer,
  by: { readonly at: string; readonly via: string },
): LedgerEntry {
  const { violationId, fingerprint, decision, reason, person, signed, digest, issuedAt, retracts, keyId } = answer;
  return {
    kind: answerRowKind(answer),
    at: by.at,
    // `assessAnswer` parsed it strictly: it is an envelope or an unsigned answer, without other members.
    body: {
      answer: sent as JsonValue,
      violationId,
      fingerprint,
      decision,
      reason,
      person,
      signed,
      digest,
      issuedAt,
      retracts,
      keyId,
      via: by.via,
    },
    factKey: answerFactKey(answer),
    ...spentNonce(answer),
  };
}

/** What the ledger spends with the row of a signed statement: its nonce, and the counter if a passkey signed. */
export function spentNonce({
  keyId,
  nonce,
  passkeyUse,
}: Pick<CountedAnswer, 'keyId' | 'nonce' | 'passkeyUse'>): Pick<LedgerEntry, 'nonce'> {
  if (keyId === null || nonce === null) return {};
  return { nonce: { keyId, nonce, ...(passkeyUse === null ? {} : { passkey: passkeyUse }) } };
}

/** Only the digest of a larger refused answer is recorded, so that a hostile sender cannot fill the ledger. */
const MAX_RECORDED_CHARS = 16 * 1024;

/**
 * The ledger row of a refused answer, withdrawal or supersession (`about`), keyed by its digest and the code: the same message again is
 * counted on the row.
 */
export function refusedAnswerEntry(of: {
  readonly sent: unknown;
  readonly refused: {
    readonly code: string;
    readonly message: string;
    readonly violationId: string | null;
    readonly about?: 'withdraw' | 'supersede';
  };
  readonly via: string;
  readonly at: string;
}): LedgerEntry {
  const { sent, refused, via, at } = of;
  const { code, message, violationId, about } = refused;
  const content = contentOf(sent);
  const factKey = `#${code}:${String(content['digest'] ?? 'unreadable')}`;
  const body = { code, message, violationId, via, ...(about === undefined ? {} : { about }), ...content };
  return { kind: 'answer_refused', at, body, factKey };
}

/** The text of a refusal of which the ledger only increased the count. */
export function refusedText({ code, message }: { readonly code: string; readonly message: string }): string {
  return `${code}: ${message}; this review has ${MAX_REFUSED_ROWS} recorded refusals, further ones are only counted`;
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
