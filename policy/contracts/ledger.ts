import { z } from 'zod';
import type { JsonValue } from './canonical-json';
import { Sha256Hex } from './diff';
import { typedHash, type Sha256 } from './hash';
import type { TerminalState } from './outcome';
import { JsonRecord } from './plan';

/** records.md §9. */
export const LedgerKind = z.enum([
  'submitted',
  'planned',
  'findings',
  'staged',
  'attested',
  'disclosed',
  'answer_accepted',
  'answer_refused',
  'decided',
  'intent',
  'resolved',
  'effect',
  'receipt',
  'refused',
  'closed',
]);
export type LedgerKind = z.infer<typeof LedgerKind>;

/** One row. `n` counts within the change from 0, `prev` is the hash of row n−1 (64 zeros for the first). */
export const LedgerRow = z.strictObject({
  changeId: Sha256Hex,
  n: z.int().min(0),
  prev: Sha256Hex,
  kind: LedgerKind,
  at: z.iso.datetime(),
  /** The process and key that wrote it, e.g. `review-worker`, `committer:<keyId>`. */
  actor: z.string(),
  body: JsonRecord,
});
export type LedgerRow = z.infer<typeof LedgerRow>;

export const GENESIS: Sha256 = '0'.repeat(64);

export function ledgerHash(row: LedgerRow): Sha256 {
  return typedHash('ledger', row);
}

/** `check` of the `refused` row in which the committer says why it applied nothing of a change that it had verified. */
export const NOTHING_APPLIED = 'nothing_applied';

/** `check` of the `refused` row in which the committer says that nobody can tell whether the change was applied. */
export const EFFECT_UNTOLD = 'effect_unknown';

/** A change as a limit over many changes counts it. */
export interface OpenedChange {
  readonly changeId: Sha256;
  /** As the row `submitted` has it. */
  readonly measure: JsonValue;
  /** As the row `closed` has it; null while the change is open. */
  readonly state: TerminalState | null;
}
