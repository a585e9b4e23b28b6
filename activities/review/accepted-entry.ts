import type { JsonValue } from '../../policy/contracts/canonical-json';
import type { LedgerEntry } from '../../policy/evidence/ledger-port';
import type { CountedAnswer } from '../../signing/judge-answer';
import { answerFactKey, answerRowKind } from '../../signing/verify-answers';

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
    // `judgeAnswer` parsed it strictly: it is an envelope or an unsigned answer, without other members.
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
