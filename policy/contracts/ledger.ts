import { z } from 'zod';
import type { JsonValue } from './canonical-json';
import { Sha256Hex } from './diff';
import { typedHash, type Sha256 } from './hash';
import type { TerminalState } from './outcome';
import { JsonRecord } from './json-value';

export const LedgerKind = z.enum([
  'submitted',
  'planned',
  'findings',
  'staged',
  'attested',
  'disclosed',
  'answer_accepted',
  'retracted',
  'answer_refused',
  'withdrawn',
  'superseded',
  'decided',
  'intent',
  'resolved',
  'effect',
  'receipt',
  'refused',
  'closed',
  'head',
  'spent',
  /** What the reconciler found about the workflow of a review, open or ended, and what it did (REPAIR_ACTIONS). */
  'repaired',
]);
export type LedgerKind = z.infer<typeof LedgerKind>;

/** One row of a change's hash chain. `n` starts at 0; `prev` is the hash of row n−1, or 64 zeros for the first row. */
export const LedgerRow = z.strictObject({
  changeId: Sha256Hex,
  n: z.int().min(0),
  prev: Sha256Hex,
  kind: LedgerKind,
  at: z.iso.datetime(),
  /** The database role that appended it, e.g. `cs_review`. The database sets it. */
  actor: z.string(),
  body: JsonRecord,
});
export type LedgerRow = z.infer<typeof LedgerRow>;

/**
 * Kinds of rows that may follow `intent` or `decided`: what ends the change, how an unknown effect or a lost workflow was resolved, and
 * those of AFTER_HEAD. What the decision was based on cannot change after it.
 */
export const AFTER_SETTLEMENT: ReadonlySet<LedgerKind> = new Set<LedgerKind>([
  'effect',
  'resolved',
  'repaired',
  'receipt',
  'closed',
  'head',
  'answer_refused',
  'refused',
  'spent',
]);

/**
 * Kinds of rows that may follow the row `head`: refused messages, the use of a cooperative receipt, and what was done with a workflow that
 * did not end after its review.
 */
export const AFTER_HEAD: ReadonlySet<LedgerKind> = new Set<LedgerKind>([
  'answer_refused',
  'refused',
  'spent',
  'repaired',
]);

/** Kinds of rows that may follow the row `closed`. */
export const AFTER_CLOSED: ReadonlySet<LedgerKind> = new Set<LedgerKind>(['head', ...AFTER_HEAD]);

export const GENESIS: Sha256 = '0'.repeat(64);

export function ledgerHash(row: LedgerRow): Sha256 {
  return typedHash('ledger', row);
}

/** Value of `check` in the `refused` row that a worker writes if a step of the review failed permanently; its `step` is a FailedStep. */
export const STEP_FAILED = 'step_failed';
/** Activities whose final failure is recorded. A failed `runGuardians` also has its `unit`. */
export type FailedStep = 'runGuardians' | 'stage' | 'disclose' | 'commit';

/** Value of `check` in the `refused` row that the committer writes if it verified a change but applied nothing. */
export const NOTHING_APPLIED = 'nothing_applied';

/** Value of `check` in the `refused` row that the committer writes if the history of a review does not replay. It decides nothing. */
export const HISTORY_DAMAGED = 'history_damaged';

/** Value of `check` in the `refused` row that the committer writes if it is unknown whether the change was applied. */
export const EFFECT_UNKNOWN = 'effect_unknown';

/**
 * Values of `did` in a row `repaired`. `woken`: the workflow lacked recorded answers, and received the signal to read them. `reset`: the
 * workflow was reset. `ended`: the review was ended. `terminated`: the review had ended, and its workflow was terminated.
 */
export const REPAIR_ACTIONS = ['woken', 'reset', 'ended', 'terminated'] as const;
export type RepairAction = (typeof REPAIR_ACTIONS)[number];

/** A change, as counted by a limit over several changes. */
export interface MeasuredChange {
  readonly changeId: Sha256;
  /** From the row `submitted`. */
  readonly measure: JsonValue;
  /** From the last row `staged` before the change that is checked; null if there is none. */
  readonly staged: JsonValue;
  /** From the row `closed`; null while the change is open. */
  readonly state: TerminalState | null;
}
