/** The committer without Temporal between: changes made ready by the real activities, for programs that call `commit` themselves. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { stagingRecords } from '../activities/committer/staging-records';
import type { VerificationDeps } from '../activities/committer/collect-record';
import type { CommitActivities, CommitInput, ReviewActivities } from '../activities/review-types';
import { prepareSubmission, signSubmission, type SubmitInput } from '../client/submission';
import { createSigner } from '../client/signer';
import { readKeyFile } from '../signing/key-file';
import { signPredicate } from '../signing/envelope';
import type { Submission } from '../policy/contracts/diff';
import { readTargets, readTrust } from '../workers/config';
import type { DevSetup } from '../dev/setup';
import { extensionsOf } from '../workers/extensions';
import { createLogger } from '../workers/logger';
import { openResources, type Resources } from '../workers/resources';
import { commitActivities } from '../workers/roles/commit';
import { reviewActivities } from '../workers/roles/review';

/** What a process needs to commit: paths and connection strings, so that it can be handed to a child. */
export interface CommitSetup {
  readonly reviewUrl: string;
  readonly commitUrl: string;
  readonly reviewKey: string;
  readonly committerKey: string;
  readonly agentKey: string;
  readonly trustFile: string;
  readonly targetsFile: string;
}

export function commitSetup({ databaseUrls, keys, trustFile, targetsFile }: DevSetup): CommitSetup {
  return {
    reviewUrl: databaseUrls.cs_review,
    commitUrl: databaseUrls.cs_commit,
    reviewKey: keys['attestor-review'].path,
    committerKey: keys.committer.path,
    agentKey: keys.agent.path,
    trustFile,
    targetsFile,
  };
}

/** A change that the committer would commit: opened, dry-run, and nothing fired. */
export interface Ready {
  readonly input: CommitInput;
  readonly submission: Submission;
}

export interface Committing {
  readonly review: ReviewActivities;
  readonly commit: CommitActivities;
  readonly resources: { readonly review: Resources; readonly commit: Resources };
  /** For the verification alone. */
  readonly verification: VerificationDeps;
  prepare(change: SubmitInput): Promise<Ready>;
  close(): Promise<void>;
}

/** What fails and is tried again is no news. */
const QUIET = new DefaultLogger('ERROR');

/** In an activity's context, as a worker would call it. */
export function asActivity<I, O>(activity: (input: I) => Promise<O>, input: I): Promise<O> {
  return new MockActivityEnvironment({}, { logger: QUIET }).run(activity, input);
}

export function openCommitting(setup: CommitSetup): Committing {
  const logger = createLogger('bench', 'fatal');
  const extensions = extensionsOf();
  const trustedOperators = readTrust(setup.trustFile);
  const open = (databaseUrl: string): Resources =>
    openResources({ databaseUrl, applicationName: 'bench', trustedOperators, extensions, logger, poolSize: 20 });
  const resources = { review: open(setup.reviewUrl), commit: open(setup.commitUrl) };
  const [attestor, committer, agent] = [setup.reviewKey, setup.committerKey, setup.agentKey].map((p) => readKeyFile(p));
  if (attestor === undefined || committer === undefined || agent === undefined) throw new Error('A key is missing');
  const review = reviewActivities({
    resources: resources.review,
    extensions,
    attestor: { keyId: attestor.keyId, sign: (p) => signPredicate('attested', p, attestor) },
    webhooks: new Map(),
    breakers: null,
    logger,
    threads: null,
  });
  const targets = readTargets(setup.targetsFile);
  const commit = commitActivities({
    resources: resources.commit,
    extensions,
    receipts: { keyId: committer.keyId, sign: (p) => signPredicate('receipt', p, committer) },
    targets,
    threads: null,
  });
  return {
    review,
    commit,
    resources,
    verification: {
      ...resources.commit,
      tools: extensions.sourceTools,
      validators: extensions.validators,
      stagingRecords: stagingRecords(resources.commit.db),
      targetIsDevelopment: (target) => targets.get(target)?.development ?? null,
    },
    async prepare(change) {
      const prepared = prepareSubmission(change, 'default');
      const { changeId, inputSha, bytes } = prepared;
      await resources.review.store.put('default', bytes);
      const submission = signSubmission(prepared, createSigner(agent), new Date());
      const { planHash } = await asActivity(review.openReview, { changeId, submission });
      const { tenant, target, sourceTool, diffSha, metadata } = submission;
      const ref = { changeId, tenant, target, sourceTool, diffSha, metadata, inputSha, planHash };
      const staged = await asActivity(commit.stage, ref);
      if (staged.kind !== 'staged') throw new Error(`Not staged: ${staged.explanation}`);
      return { submission, input: { changeId, planHash, stagingSha: staged.stagingSha, fingerprint: null } };
    },
    async close() {
      await Promise.all([resources.review.db.close(), resources.commit.db.close()]);
    },
  };
}
