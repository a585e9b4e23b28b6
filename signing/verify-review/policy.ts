import { sha256HexOfText } from '../../policy/contracts/hash';
import { planHash as planHashOf } from '../../policy/contracts/plan';
import { memoizeByObject } from '../../policy/text/memoize';
import { fail, fileOf, NEVER_OPENED, notChecked, openedOf, rowOf, signedByOne, supplied, wasRevoked } from './checking';
import type { Passed, Review } from './record';

/** Plans are immutable and shared between reviews, so each is hashed once. */
const memoizedHash = memoizeByObject(planHashOf);

export function checkPlan(review: Review): Passed {
  const { plan, asked } = review.record;
  const submission = review.need('submission');
  const row = rowOf(review.rows, 'planned');
  if (row === null || submission === null) {
    if (plan !== null || asked !== null || row !== null) fail('no row pins this plan for a submission');
    return [NEVER_OPENED, { pinned: null }];
  }
  if (asked !== null && row.body['planHash'] !== asked.planHash)
    fail('the plan differs from the one that this review pinned at its start');
  if (plan === null) {
    if (review.sources.policy?.ok === false) notChecked('no policy revision contains the plan');
    fail('the plan is missing');
  }
  const planHash = memoizedHash(plan);
  if (row.body['planHash'] !== planHash) fail(`the plan hashes to ${planHash}, but row ${row.n} pinned another`);
  if (row.body['mode'] !== plan.mode) fail(`row ${row.n} has another mode than the plan`);
  if (plan.target !== submission.target || plan.sourceTool !== submission.sourceTool)
    fail('the plan is for another target or tool');
  return [`plan ${planHash}`, { pinned: { plan, planHash } }];
}

/** The committer's plan source has already verified the signatures with its own trust roots, and read current revocations. */
export function checkPolicy(review: Review): Passed {
  const { sources, record } = review;
  if (sources.context === 'commit') {
    const { revision } = supplied(sources.policy, 'no policy revision was looked up');
    if (revision !== rowOf(review.rows, 'planned')?.body['revision']) fail('the review pinned another policy revision');
    return [`revision ${revision}, not revoked`];
  }
  const { policy } = fileOf(review);
  if (policy === null) return record.plan === null ? [NEVER_OPENED] : fail('the signed revision is missing');
  const opened = openedOf(review) ?? fail('there is a policy, but the change never pinned a plan');
  const operators = sources.trust?.operators ?? [];
  const { plan, planHash } = opened;
  const revision = signedByOne('policy-revision', policy.revision, operators, 'operator');
  const row = rowOf(review.rows, 'planned');
  if (revision.revision !== row?.body['revision'])
    fail(`the file has revision ${revision.revision}, but the review pinned another`);
  if (revision.bundleSha !== sha256HexOfText(policy.bundleText)) fail('the bundle text differs from the signed one');
  const entry = revision.plans.find((p) => p.target === plan.target && p.sourceTool === plan.sourceTool);
  if (entry?.planHash !== planHash) fail('the signed revision does not list this plan');
  const signed = `revision ${revision.revision} signed by an operator`;
  if (policy.revocation === null) return [signed];
  const revoked = signedByOne('policy-revocation', policy.revocation, operators, 'operator');
  if (revoked.revision !== revision.revision) fail('the revocation is for another revision');
  if (review.end?.action === 'COMMIT' && wasRevoked(revoked.revokedAt, review))
    fail(`the policy was revoked at ${revoked.revokedAt}, before the commit`);
  return [`${signed}, revoked at ${revoked.revokedAt}`, { policyRevokedAt: revoked.revokedAt }];
}

export function checkTarget(review: Review): Passed {
  const opened = openedOf(review) ?? fail(NEVER_OPENED);
  const { mode, development } = review.sources.target ?? notChecked('this process has no configuration of targets');
  const { plan } = opened;
  if (mode !== null && mode !== plan.mode)
    fail(`the plan is ${plan.mode}, but ${plan.sourceTool} is ${mode} in this committer`);
  if (development === null) fail(`this committer does not serve the target "${plan.target}"`);
  if (plan.development && !development) fail('the policy marks the target as development, but this committer does not');
  return [`${plan.target}, ${plan.mode}${plan.development ? ', development' : ''}`];
}
