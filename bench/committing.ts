/** The committer without Temporal: runs the real activities to prepare changes for programs that call `commit` directly. */
import { inActivity } from '../dev/activity-context';
import { stagingRecords } from '../activities/committer/staging-records';
import type { VerificationDeps } from '../activities/committer/collect-record';
import type { CommitActivities, CommitInput, ReviewActivities } from '../activities/review-types';
import { prepareSubmission, signSubmission, type SubmitInput } from '../client/submission';
import { createSigner } from '../client/signer';
import { readKeyFile } from '../signing/key-file';
import type { Submission } from '../policy/contracts/diff';
import { openRoles, type RoleSetup } from '../dev/local-roles';
import type { Resources } from '../workers/resources';

/** A change that is ready to commit: opened and dry-run, and no guardian fired. */
export interface PreparedChange {
  readonly input: CommitInput;
  readonly submission: Submission;
}

interface Committing {
  readonly review: ReviewActivities;
  readonly commit: CommitActivities;
  readonly resources: { readonly review: Resources; readonly commit: Resources };
  /** Dependencies of the verification alone. */
  readonly verification: VerificationDeps;
  /** Throws if the dry run fails. */
  prepare(change: SubmitInput): Promise<PreparedChange>;
  close(): Promise<void>;
}

/** Calls an activity inside an activity context, as a worker does. */
export function asActivity<I, O>(activity: (input: I) => Promise<O>, input: I): Promise<O> {
  return inActivity(() => activity(input));
}

export function openCommitting(setup: RoleSetup): Committing {
  const { extensions, targets, resources, activities, close } = openRoles(setup, {
    applicationName: 'bench',
    poolSize: 20,
  });
  const { review, commit } = activities;
  const agent = createSigner(readKeyFile(setup.keyFiles.agent));
  return {
    review,
    commit,
    resources,
    close,
    verification: {
      ...resources.commit,
      tools: extensions.sourceTools,
      validators: extensions.validators,
      stagingRecords: stagingRecords(resources.commit.db, null),
      targetIsDevelopment: (target) => targets.get(target)?.development ?? null,
    },
    async prepare(change) {
      const prepared = prepareSubmission(change, 'default');
      const { changeId, bytes } = prepared;
      await resources.review.store.put('default', bytes);
      const submission = signSubmission(prepared, agent, new Date());
      const { planHash } = await asActivity(review.openReview, { changeId, submission });
      const staged = await asActivity(commit.stage, { changeId });
      if (staged.kind !== 'staged') throw new Error(`The dry run failed: ${staged.explanation}`);
      return { submission, input: { changeId, planHash, stagingSha: staged.stagingSha, fingerprint: null } };
    },
  };
}
