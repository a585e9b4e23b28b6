import { z } from 'zod';
import { Envelope, Sha256Hex } from './diff';
import { ValidatorFinding } from './finding';
import { PolicyViolation } from './violation';

/** DESIGN §3. EFFECT_UNKNOWN is not terminal: marker, read-back or an operator solves it. */
export const ReviewState = z.enum([
  'RUNNING',
  'INTERVENTION_REQUIRED',
  'COMMITTING',
  'EFFECT_UNKNOWN',
  'COMMITTED',
  'ROLLED_BACK',
  'COMPENSATED',
]);
export type ReviewState = z.infer<typeof ReviewState>;

export const TerminalState = z.enum(['COMMITTED', 'ROLLED_BACK', 'COMPENSATED']);
export type TerminalState = z.infer<typeof TerminalState>;

export const RollbackReason = z.enum([
  'forbidden',
  'declined',
  'expired',
  'no_handler',
  'stale_base',
  'withdrawn',
  'superseded',
  'policy_moved',
  'commit_refused',
  'commit_failed',
  'post_failed',
  'contract_violation',
]);
export type RollbackReason = z.infer<typeof RollbackReason>;

export const Mode = z.enum(['enforced', 'cooperative']);
export type Mode = z.infer<typeof Mode>;

/** What a review ends with: the workflow's result, and what `Countersign.result()` returns. A rejected change is a completed workflow. */
export const ReviewOutcome = z.strictObject({
  changeId: Sha256Hex,
  state: TerminalState,
  action: z.enum(['COMMIT', 'ROLLBACK']),
  /** Null exactly when COMMITTED. */
  reason: RollbackReason.nullable(),
  /** One plain sentence for people. */
  explanation: z.string(),
  mode: Mode,
  inputSha: Sha256Hex,
  planHash: Sha256Hex.nullable(),
  stagingSha: Sha256Hex.nullable(),
  findings: z.array(ValidatorFinding),
  violations: z.array(PolicyViolation),
  /** Signed by the committer. Null only when the committer could not be reached in its whole window: shown as unverified. */
  receipt: Envelope.nullable(),
});
export type ReviewOutcome = z.infer<typeof ReviewOutcome>;

/** The committer's statement about the end of one change; the payload of every receipt. */
export const ReceiptPredicate = z.strictObject({
  changeId: Sha256Hex,
  tenant: z.string(),
  target: z.string(),
  sourceTool: z.string(),
  inputSha: Sha256Hex,
  diffSha: Sha256Hex,
  planHash: Sha256Hex.nullable(),
  stagingSha: Sha256Hex.nullable(),
  fingerprint: Sha256Hex.nullable(),
  action: z.enum(['COMMIT', 'ROLLBACK']),
  state: TerminalState,
  reason: RollbackReason.nullable(),
  mode: Mode,
  /** Adapter facts of the effect: rows by table, marker, new commit id, ETag. Null where nothing was done. */
  effect: z.record(z.string(), z.json()).nullable(),
  keyId: z.string(),
  at: z.iso.datetime(),
});
export type ReceiptPredicate = z.infer<typeof ReceiptPredicate>;
