import type { JsonValue } from '../../policy/contracts/canonical-json';
import type { LedgerEntry } from '../../policy/evidence/ledger-port';
import type { CountedAnswer } from '../../signing/judge-answer';
import { answerFactKey, answerRowKind } from '../../signing/verify-answers';
import { spentNonce } from './spent-nonce';

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
