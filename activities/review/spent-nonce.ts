import type { LedgerEntry } from '../../policy/evidence/ledger-port';
import type { CountedAnswer } from '../../signing/judge-answer';

/** What the ledger spends with the row of a signed statement: its nonce, and the counter if a passkey signed. */
export function spentNonce({
  keyId,
  nonce,
  passkeyUse,
}: Pick<CountedAnswer, 'keyId' | 'nonce' | 'passkeyUse'>): Pick<LedgerEntry, 'nonce'> {
  if (keyId === null || nonce === null) return {};
  return { nonce: { keyId, nonce, ...(passkeyUse === null ? {} : { passkey: passkeyUse }) } };
}
