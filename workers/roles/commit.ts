import { createCommitActivities } from '../../activities/committer/create-commit-activities';
import { effectSends } from '../../activities/committer/effect-sends';
import type { ReceiptSigner } from '../../activities/committer/settlement';
import { createStagingActivities } from '../../activities/committer/stage';
import { targetFreezes } from '../../activities/committer/target-freezes';
import { stagingRecords } from '../../activities/committer/staging-records';
import type { Targets } from '../../activities/committer/targets';
import type { Derivation } from '../../activities/review/derivation';
import type { CommitActivities } from '../../activities/review-types';
import { createBreakers } from '../../storage/breakers/breakers';
import { ledgerWithAdvisoryLock } from '../../storage/ledger/with-advisory-lock';
import type { Extensions } from '../extensions';
import type { Resources } from '../resources';

export interface CommitRole {
  readonly resources: Resources;
  readonly extensions: Extensions;
  readonly receipts: ReceiptSigner;
  /** With a demo committer key these are development targets only; the entry point checks it. */
  readonly targets: Targets;
  /** Null: diffs are parsed on this thread. */
  readonly threads: Derivation | null;
}

/** Activities of the queue `countersign-commit`. Only the committer has credentials of targets. */
export function commitActivities({ resources, extensions, receipts, targets, threads }: CommitRole): CommitActivities {
  const { store, ledger, keys, plans, operators, now, db } = resources;
  const { validators, sourceTools: tools } = extensions;
  const staging = stagingRecords(db);
  const targetIsDevelopment = (target: string): boolean | null => targets.get(target)?.development ?? null;
  return {
    ...createStagingActivities({ store, ledger, plans, tools, validators, threads, staging, targets, now }),
    ...createCommitActivities({
      store,
      ledger,
      withAdvisoryLock: ledgerWithAdvisoryLock(db),
      breakerRows: createBreakers({ db, operators }),
      plans,
      tools,
      validators,
      threads,
      keys,
      stagingRecords: staging,
      targets,
      sends: effectSends(db),
      freezes: targetFreezes(db, operators),
      operators,
      targetIsDevelopment,
      receipts,
      now,
    }),
  };
}
