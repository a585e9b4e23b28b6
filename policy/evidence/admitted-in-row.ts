import { AdmittedAnswer } from '../contracts/answer';
import type { LedgerRow } from '../contracts/ledger';

/** An answer as its row has it. */
export type RecordedAnswer = Pick<LedgerRow, 'body' | 'at'>;

/** The answer of a row as admission wrote it, not verified. Null for a row that admission cannot have written. */
export function admittedIn({ body, at }: RecordedAnswer): AdmittedAnswer | null {
  const { violationId, fingerprint, decision, person, signed, reason, issuedAt, retracts, digest } = body;
  const answer = { violationId, fingerprint, decision, person, signed, reason, issuedAt, retracts, digest };
  return AdmittedAnswer.safeParse({ ...answer, admittedAt: at }).data ?? null;
}
