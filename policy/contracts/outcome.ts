import { z } from 'zod';
import { Envelope, Sha256Hex } from './diff';
import { ValidatorFinding } from './finding';
import { typedHash, type Sha256 } from './hash';
import { JsonRecord } from './json-value';
import { PolicyViolation } from './violation';

/** EFFECT_UNKNOWN is not terminal: the commit marker, a read-back or an operator resolves it. */
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
  /** Its workflow was gone or could not go on; the reconciler ended it. */
  'workflow_lost',
]);
export type RollbackReason = z.infer<typeof RollbackReason>;

export const Mode = z.enum(['enforced', 'cooperative']);
export type Mode = z.infer<typeof Mode>;

/** Final result of a review, returned by `Countersign.result()`. A rejected change completes the workflow; it does not fail it. */
export const ReviewOutcome = z.strictObject({
  changeId: Sha256Hex,
  state: TerminalState,
  action: z.enum(['COMMIT', 'ROLLBACK']),
  /** Null if and only if COMMITTED. */
  reason: RollbackReason.nullable(),
  /** For people, in plain text. */
  explanation: z.string(),
  mode: Mode,
  inputSha: Sha256Hex,
  planHash: Sha256Hex.nullable(),
  stagingSha: Sha256Hex.nullable(),
  findings: z.array(ValidatorFinding),
  violations: z.array(PolicyViolation),
  /** Signed by the committer. Null only if the committer was unreachable for its whole time window; such an outcome is unverified. */
  receipt: Envelope.nullable(),
});
export type ReviewOutcome = z.infer<typeof ReviewOutcome>;

/**
 * What the workflow returns and sends to the requester's own workflow. Findings and violations are in the ledger, where the receipt binds
 * them; a client without access to the ledger has none.
 */
export type WorkflowOutcome = Omit<ReviewOutcome, 'findings' | 'violations'>;

/** The committer's signed statement of how a change ended; the payload of a receipt. */
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
  /** What the adapter reports: rows by table, marker, new commit id, ETag. Null if there was no effect. */
  effect: JsonRecord.nullable(),
  /** Binds the explanation for people (`explanationSha`). */
  explanationSha: Sha256Hex,
  /**
   * Binds the findings (`findingsSha`). Null only for a rollback whose plan this committer could not compile, or whose findings are too long
   * for one row: the outcome then names no findings.
   */
  findingsSha: Sha256Hex.nullable(),
  /** Binds the disclosed violations (`violationsSha`), which may be none. */
  violationsSha: Sha256Hex,
  /** Hash of the last ledger row of the change before the row of this receipt. */
  headSha: Sha256Hex,
  keyId: z.string(),
  at: z.iso.datetime(),
});
export type ReceiptPredicate = z.infer<typeof ReceiptPredicate>;

export function explanationSha(explanation: string): Sha256 {
  return typedHash('explanation', { explanation });
}

export function violationsSha(violations: readonly PolicyViolation[]): Sha256 {
  return typedHash('violations', { violations });
}
