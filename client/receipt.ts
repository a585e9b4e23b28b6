import { z } from 'zod';
import type { Envelope } from '../policy/contracts/diff';
import type { ReceiptPredicate, ReviewOutcome, WorkflowOutcome } from '../policy/contracts/outcome';
import { contradictionIn, unboundWord } from '../signing/receipt-words';
import { signedBy } from '../signing/signed-by';
import { OperatorKeys, PublicKey, type OperatorKey } from '../signing/operator-key';

/** Whom the caller trusts. Must come from the caller's configuration, never from a review. */
export interface ReceiptTrust {
  /** Operators, who sign policies and keys. Without them reviews cannot be verified, so none can be shown or answered. */
  readonly operators?: readonly OperatorKey[];
  /** Ed25519 public keys, 64 lower-case hex digits. */
  readonly committers: readonly string[];
}

/** The option `trust` of a client. No receipt verifies with a value that is not a public key. */
export const TrustOption = z.object({ operators: OperatorKeys.optional(), committers: z.array(PublicKey) }).nullish();

export type ReceiptCheck =
  { readonly ok: true; readonly receipt: ReceiptPredicate } | { readonly ok: false; readonly why: string };

/**
 * Checks that one of the trusted committers signed this receipt, and that it does not contradict itself. Works offline. Never throws because
 * of the envelope's content.
 */
export function verifyReceipt(envelope: Envelope | unknown, trust: ReceiptTrust): ReceiptCheck {
  const signed = signedBy('receipt', envelope, trust.committers, 'committer');
  const why = signed.ok ? contradictionIn(signed.predicate) : signed.message;
  return signed.ok && why === null
    ? { ok: true, receipt: signed.predicate }
    : { ok: false, why: `the receipt does not verify: ${why ?? ''}` };
}

/** `verified`: a trusted committer signed exactly this outcome, with every word in it. `why`: what is missing or differs. */
export type Verification =
  { readonly verified: true; readonly why: null } | { readonly verified: false; readonly why: string };

/** Members of the outcome that the receipt has itself. */
const BOUND = ['changeId', 'state', 'action', 'reason', 'mode', 'inputSha', 'planHash', 'stagingSha'] as const;

/** An outcome of a workflow has neither findings nor violations. */
export type SignedOutcome = WorkflowOutcome & Partial<Pick<ReviewOutcome, 'findings' | 'violations'>>;

/**
 * Checks that the receipt binds the whole outcome: its state and reason, and the digests of explanation, findings and violations.
 * The outcome alone is not trusted: anyone with write access to the namespace can forge it and attach a genuine receipt.
 */
export function verifyOutcome(changeId: string, outcome: SignedOutcome, trust: ReceiptTrust | null): Verification {
  if (outcome.changeId !== changeId)
    return { verified: false, why: `the outcome is of change ${outcome.changeId}, not of ${changeId}` };
  if (outcome.receipt === null) return { verified: false, why: 'the outcome has no receipt' };
  if (trust === null || trust.committers.length === 0)
    return { verified: false, why: 'the client has no trusted committer key' };
  const checked = verifyReceipt(outcome.receipt, trust);
  if (!checked.ok) return { verified: false, why: checked.why };
  const differs = BOUND.find((member) => checked.receipt[member] !== outcome[member]);
  if (differs !== undefined)
    return {
      verified: false,
      why: `${differs}: the receipt has ${String(checked.receipt[differs])}, the outcome has ${String(outcome[differs])}`,
    };
  const word = unboundWord(checked.receipt, outcome);
  return word === null
    ? { verified: true, why: null }
    : { verified: false, why: `${word}: the receipt was signed for other ${word} than the outcome has` };
}
