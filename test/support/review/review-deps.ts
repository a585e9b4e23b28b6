import { usableAttestor } from '../../../activities/attestation';
import type { CommitDeps } from '../../../activities/committer/commit-deps';
import { createCommitActivities } from '../../../activities/committer/create-commit-activities';
import { targetSlots } from '../../../activities/committer/target-slots';
import { createStagingActivities, type StagingDeps } from '../../../activities/committer/stage';
import type { CommitActivities, ReviewActivities } from '../../../activities/review-types';
import { createAnswerActivities, type AnswerDeps } from '../../../activities/review/admit-answer';
import { createWithdrawalActivities } from '../../../activities/review/admit-withdrawal';
import { createStatementActivities } from '../../../activities/review/read-statements';
import { createDisclosureActivities, type DisclosureDeps } from '../../../activities/review/disclose';
import { createOpeningActivities, type OpeningDeps } from '../../../activities/review/open-review';
import { createGuardianActivities, type GuardianDeps } from '../../../activities/review/run-guardians';
import { inActivity } from '../../../dev/activity-context';
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import type { StagingRecord } from '../../../policy/contracts/staging-record';
import type { SigningKey } from '../../../signing/keys';
import { attestorWith, receiptSignerWith } from '../../../workers/signers';
import { memoryWithAdvisoryLock, memoryWithChangeLock, type MemoryLedger } from '../memory-ledger';

/** Everything that the activities of a review need. */
export type ReviewDeps = OpeningDeps & GuardianDeps & DisclosureDeps & AnswerDeps & StagingDeps & CommitDeps;

export interface ReviewParts extends Pick<
  ReviewDeps,
  'store' | 'plans' | 'tools' | 'validators' | 'callbacks' | 'keys' | 'sends' | 'now'
> {
  readonly ledger: MemoryLedger;
  readonly signers: { readonly attestor: SigningKey; readonly committer: SigningKey };
  /** By `<changeId>/<stagingSha>`. */
  readonly stagingRecords: Map<string, StagingRecord>;
  /** As `stagingRecords`. */
  readonly previews?: Map<string, JsonObject>;
}

/** All dependencies over stores in memory, for the production target `shop`: no freeze and no circuit breakers. */
export function reviewDeps({ signers, stagingRecords, previews, ...parts }: ReviewParts): ReviewDeps {
  return {
    ...parts,
    databaseNow: async () => parts.now(),
    attestor: usableAttestor(attestorWith(signers.attestor), parts.keys),
    receipts: receiptSignerWith(signers.committer),
    withAdvisoryLock: memoryWithAdvisoryLock(parts.ledger),
    withChangeLock: memoryWithChangeLock(parts.ledger),
    breakers: null,
    breakerRows: { compact: async () => {} },
    staging: {
      put: async (changeId, sha, record, preview) => {
        stagingRecords.set(`${changeId}/${sha}`, record);
        previews?.set(`${changeId}/${sha}`, preview);
      },
      begin: async () => ({ attempt: 'one', lost: 0 }),
      end: async () => {},
    },
    stagingRecords: { get: async (changeId, sha) => stagingRecords.get(`${changeId}/${sha}`) ?? null },
    targets: new Map([
      ['shop', { name: 'shop', development: false, stageUrl: 'memory://stage', commitUrl: 'memory://commit' }],
    ]),
    slots: targetSlots(100),
    targetIsDevelopment: () => false,
    freezes: { current: async () => null },
    operators: [],
  };
}

type Activities = Pick<
  ReviewActivities,
  'openReview' | 'runGuardians' | 'disclose' | 'admitAnswer' | 'admitWithdrawal' | 'readStatements'
> &
  CommitActivities;

/** The real activities. Those of the committer run in an activity context, which they need. */
export function reviewActivities(deps: ReviewDeps): Activities {
  const { stage } = createStagingActivities(deps);
  const { commit, rollback, reconcile } = createCommitActivities(deps);
  return {
    ...createOpeningActivities(deps),
    ...createGuardianActivities(deps),
    ...createDisclosureActivities(deps),
    ...createAnswerActivities(deps),
    ...createWithdrawalActivities(deps),
    ...createStatementActivities(deps),
    stage: (input) => inActivity(() => stage(input)),
    commit: (input) => inActivity(() => commit(input)),
    rollback: (input) => inActivity(() => rollback(input)),
    reconcile: (input) => inActivity(() => reconcile(input)),
  };
}
