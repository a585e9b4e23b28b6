import type { Envelope } from '../policy/contracts/diff';
import type { ReceiptPredicate, ReviewOutcome } from '../policy/contracts/outcome';
import { openEnvelope } from '../policy/evidence/dsse';
import { keyIdOf } from '../signing/keys';
import { verifyEnvelope } from '../signing/envelope';

/** The committers that this caller believes: from its own configuration, never from a review. */
export interface ReceiptTrust {
  /** Ed25519 public keys, 64 lower-case hex digits. */
  readonly committers: readonly string[];
}

export type ReceiptCheck =
  { readonly ok: true; readonly receipt: ReceiptPredicate } | { readonly ok: false; readonly why: string };

/** Whether one of the trusted committers signed this receipt. Offline; never throws on what the envelope holds. */
export function verifyReceipt(envelope: Envelope | unknown, trust: ReceiptTrust): ReceiptCheck {
  const opened = openEnvelope('receipt', envelope);
  if (!opened.ok) return { ok: false, why: `the receipt cannot be read: ${opened.message}` };
  const publicKey = trust.committers.find((key) => keyIdOf(key) === opened.keyid);
  if (publicKey === undefined)
    return { ok: false, why: `the receipt names key ${opened.keyid}, which is no trusted committer` };
  const verified = verifyEnvelope(envelope, publicKey, 'receipt');
  return verified.ok
    ? { ok: true, receipt: verified.predicate }
    : { ok: false, why: `the receipt does not verify: ${verified.message}` };
}

/**
 * `true`: a trusted committer signed exactly this outcome. `false`: there is a receipt, and it does not bear the outcome out.
 * `'unverified'`: no receipt, or no trust roots to check it with. Only `true` is a ground to act on.
 */
export type Verification = { readonly verified: boolean | 'unverified'; readonly why: string | null };

const BOUND = ['changeId', 'state', 'action', 'reason', 'mode', 'inputSha', 'planHash', 'stagingSha'] as const;

/** Whether the receipt bears out what the workflow says. The workflow's own word proves nothing: a namespace writer can forge it (P4). */
export function verifyOutcome(changeId: string, outcome: ReviewOutcome, trust: ReceiptTrust | null): Verification {
  if (outcome.changeId !== changeId)
    return { verified: false, why: `asked for ${changeId}, the outcome names ${outcome.changeId}` };
  if (outcome.receipt === null) return { verified: 'unverified', why: 'the outcome carries no receipt' };
  if (trust === null || trust.committers.length === 0)
    return { verified: 'unverified', why: 'no committer key is trusted here' };
  const checked = verifyReceipt(outcome.receipt, trust);
  if (!checked.ok) return { verified: false, why: checked.why };
  const differs = BOUND.find((member) => checked.receipt[member] !== outcome[member]);
  if (differs === undefined) return { verified: true, why: null };
  return {
    verified: false,
    why: `${differs}: the receipt says ${String(checked.receipt[differs])}, the workflow says ${String(outcome[differs])}`,
  };
}
