import type { Envelope } from '../policy/contracts/diff';
import type { ReceiptPredicate, ReviewOutcome } from '../policy/contracts/outcome';
import { openEnvelope } from '../policy/evidence/dsse';
import { keyIdOf } from '../signing/keys';
import { verifyEnvelope } from '../signing/envelope';

/** The committers that the caller trusts. Must come from the caller's configuration, never from a review. */
export interface ReceiptTrust {
  /** Ed25519 public keys, 64 lower-case hex digits. */
  readonly committers: readonly string[];
}

export type ReceiptCheck =
  { readonly ok: true; readonly receipt: ReceiptPredicate } | { readonly ok: false; readonly why: string };

/** Checks that one of the trusted committers signed this receipt. Works offline. Never throws because of the envelope's content. */
export function verifyReceipt(envelope: Envelope | unknown, trust: ReceiptTrust): ReceiptCheck {
  const opened = openEnvelope('receipt', envelope);
  if (!opened.ok) return { ok: false, why: `the receipt cannot be read: ${opened.message}` };
  const publicKey = trust.committers.find((key) => keyIdOf(key) === opened.keyid);
  if (publicKey === undefined)
    return { ok: false, why: `the receipt is signed with key ${opened.keyid}, which is not a trusted committer key` };
  const verified = verifyEnvelope(envelope, publicKey, 'receipt');
  return verified.ok
    ? { ok: true, receipt: verified.predicate }
    : { ok: false, why: `the receipt does not verify: ${verified.message}` };
}

/**
 * `true`: a trusted committer signed exactly this outcome. `false`: the receipt is invalid or does not match the outcome.
 * `'unverified'`: there is no receipt, or no trusted key to verify it. Act only on `true`.
 */
export type Verification = { readonly verified: boolean | 'unverified'; readonly why: string | null };

const BOUND = ['changeId', 'state', 'action', 'reason', 'mode', 'inputSha', 'planHash', 'stagingSha'] as const;

/** Checks that the receipt matches the workflow's outcome. The outcome alone is not trusted: anyone with write access to the namespace can forge it. */
export function verifyOutcome(changeId: string, outcome: ReviewOutcome, trust: ReceiptTrust | null): Verification {
  if (outcome.changeId !== changeId)
    return { verified: false, why: `the outcome is of change ${outcome.changeId}, not of ${changeId}` };
  if (outcome.receipt === null) return { verified: 'unverified', why: 'the outcome has no receipt' };
  if (trust === null || trust.committers.length === 0)
    return { verified: 'unverified', why: 'the client has no trusted committer key' };
  const checked = verifyReceipt(outcome.receipt, trust);
  if (!checked.ok) return { verified: false, why: checked.why };
  const differs = BOUND.find((member) => checked.receipt[member] !== outcome[member]);
  if (differs === undefined) return { verified: true, why: null };
  return {
    verified: false,
    why: `${differs}: the receipt has ${String(checked.receipt[differs])}, the workflow has ${String(outcome[differs])}`,
  };
}
