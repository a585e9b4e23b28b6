import type { Ledger } from '../../policy/evidence/ledger-port';
import type { VerificationDeps } from './collect-record';
import type { SealDeps } from './seal-marker';
import type { TargetFreezes } from './target-freezes';
import type { TargetSlots } from './target-slots';
import type { OperatorKey } from '../../signing/operator-key';

/** What the activities `commit`, `rollback` and `reconcile` need. */
export interface CommitDeps extends VerificationDeps, Omit<SealDeps, 'ledger'> {
  readonly ledger: Ledger;
  /** Public keys of the operators whose statements about an unknown effect are trusted. */
  readonly operators: readonly OperatorKey[];
  readonly freezes: TargetFreezes;
  readonly slots: TargetSlots;
}
