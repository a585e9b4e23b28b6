import type { ReviewOutcome } from '../policy/contracts/outcome';

export type GuardReason =
  /** The review rolled back; `outcome` has the reason. */
  | 'rolled_back'
  /** No decision within `timeoutMs`; the change was withdrawn. */
  | 'timed_out'
  /** The outcome has no receipt for these bytes that a trusted committer signed. */
  | 'unverified'
  /** The change was rolled back before this call, was approved longer ago than `timeoutMs`, or another call of this process waits for it. */
  | 'already_decided'
  /** The target is enforced: the committer has performed the effect, so the tool must not. */
  | 'not_cooperative'
  /** The ledger has another call that used this approval. */
  | 'already_used'
  /** The second call of `stage` returned different bytes, or failed. */
  | 'bytes_changed'
  /** Submitting or waiting failed. */
  | 'failed';

/** What a guarded call returns instead of the tool's result if the effect did not run. */
export class GuardBlock {
  readonly kind = 'countersign/guard-block';
  /** Cooperative: code that has the original tool can still call it without the guard. */
  readonly mode = 'cooperative';

  constructor(
    readonly reason: GuardReason,
    readonly explanation: string,
    readonly changeId: string | null,
    readonly outcome: ReviewOutcome | null,
  ) {}
}

export function isGuardBlock(value: unknown): value is GuardBlock {
  return (
    typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'countersign/guard-block'
  );
}
