import type { CommitDeps } from '../../activities/committer/commit-deps';
import { createCommitActivities } from '../../activities/committer/create-commit-activities';
import { effectSends } from '../../activities/committer/effect-sends';
import type { ReceiptSigner } from '../../activities/committer/settlement';
import { createStagingActivities } from '../../activities/committer/stage';
import { targetFreezes } from '../../activities/committer/target-freezes';
import { stagingRecords } from '../../activities/committer/staging-records';
import type { TargetSlots } from '../../activities/committer/target-slots';
import type { Targets } from '../../activities/committer/targets';
import type { Derivation } from '../../activities/review/derivation';
import { recordFailures } from '../../activities/record-failures';
import type { CommitActivities } from '../../activities/review-types';
import { createBreakers } from '../../storage/breakers/breakers';
import { ledgerWithChangeLock } from '../../storage/ledger/with-change-lock';
import type { KeyRing } from '../../storage/store/preview-cipher';
import type { Extensions } from '../extensions';
import type { Resources } from '../resources';

interface CommitRole {
  readonly resources: Resources;
  readonly extensions: Extensions;
  readonly receipts: ReceiptSigner;
  /** With a demo committer key these are development targets only; the entry point checks it. */
  readonly targets: Targets;
  readonly slots: TargetSlots;
  /** Encrypts previews; null: they are stored as they are. */
  readonly payloadKeys: KeyRing | null;
  /** Null: diffs are parsed on this thread. */
  readonly threads: Derivation | null;
}

/** Activities of the queue `countersign-commit`. Only the committer has credentials of targets. */
export function commitActivities(role: CommitRole): CommitActivities {
  const deps = commitDeps(role);
  return recordFailures<CommitActivities>(deps, {
    ...createStagingActivities({ ...deps, staging: stagingRecords(role.resources.db, role.payloadKeys) }),
    ...createCommitActivities(deps),
  });
}

/** What the committer's activities and its reconciler need. */
export function commitDeps(role: CommitRole): CommitDeps {
  const { resources, extensions, receipts, targets, slots, threads, payloadKeys } = role;
  const { store, ledger, keys, plans, operators, now, databaseNow, db } = resources;
  const { validators, sourceTools: tools } = extensions;
  return {
    store,
    ledger,
    withChangeLock: ledgerWithChangeLock(db),
    breakerRows: createBreakers({ db, operators }),
    plans,
    tools,
    validators,
    threads,
    keys,
    stagingRecords: stagingRecords(db, payloadKeys),
    targets,
    slots,
    sends: effectSends(db),
    freezes: targetFreezes(db, operators),
    operators,
    targetIsDevelopment: (target) => targets.get(target)?.development ?? null,
    receipts,
    now,
    databaseNow,
  };
}
