import type { Submission } from '../../policy/contracts/diff';
import { changeId as changeIdOf, inputSha as inputShaOf } from '../../policy/contracts/change-id';
import { sha256Hex, sha256HexOfText } from '../../policy/contracts/hash';
import type { LedgerRow } from '../../policy/contracts/ledger';
import { planHash as planHashOf } from '../../policy/contracts/plan';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import { stagingSha as stagingShaOf } from '../../policy/contracts/staging-record';
import { fromBase64 } from '../../policy/evidence/base64';
import type { EvidenceBundle } from '../../policy/evidence/bundle';
import { assertSame, fail } from './check';
import { signedByOne } from './check-keys';
import { rowOf } from './check-rows';

/** The submission is the row's, hashes to this change, and the bytes, where they are here, are what it names. */
export function checkSubmission(
  bundle: EvidenceBundle,
  rows: readonly LedgerRow[],
): readonly [string, Submission | null] {
  const { submission, bytes, changeId } = bundle;
  const row = rowOf(rows, 'submitted');
  if (submission === null) {
    if (row !== null || bytes !== null) fail('the submission is missing');
    return ['none: the change was never opened', null];
  }
  if (row === null) fail('no row says that this was submitted');
  assertSame(submission, row.body['submission'], `it is not what row ${row.n} holds`);
  if (changeIdOf(submission) !== changeId) fail('it hashes to another change id');
  if (row.body['inputSha'] !== inputShaOf(submission)) fail(`row ${row.n} names another inputSha`);
  if (bytes === null) return [`inputSha ${inputShaOf(submission)}; the bytes are not in the file`, submission];
  const raw = fromBase64(bytes);
  if (raw === null || sha256Hex(raw) !== submission.diffSha) fail('the bytes have another digest than diffSha');
  return [`inputSha ${inputShaOf(submission)}, ${raw.length} bytes`, submission];
}

export type CarriedPolicy = NonNullable<EvidenceBundle['policy']>;

/** The plan hashes to what was pinned, and stands in a revision that a trusted operator signed over this very bundle. */
export function checkPolicy(
  bundle: EvidenceBundle,
  rows: readonly LedgerRow[],
  submission: Submission | null,
  operators: readonly string[],
): readonly [
  string,
  { readonly policy: CarriedPolicy; readonly planHash: string; readonly revokedAt: string | null } | null,
] {
  const { policy } = bundle;
  const row = rowOf(rows, 'planned');
  if (policy === null) {
    if (row !== null) fail('the plan is missing');
    return ['none: no plan was pinned', null];
  }
  const { plan, bundleText } = policy;
  if (row === null || submission === null) fail('no row says that this plan was pinned');
  const planHash = planHashOf(plan);
  if (row.body['planHash'] !== planHash) fail(`the plan hashes to ${planHash}, and row ${row.n} pinned another`);
  if (row.body['mode'] !== plan.mode) fail(`row ${row.n} names another mode`);
  if (plan.target !== submission.target || plan.sourceTool !== submission.sourceTool)
    fail('the plan is for another target or tool');
  const revision = signedByOne('policy-revision', policy.revision, operators, 'operator');
  if (revision.revision !== row.body['revision'])
    fail(`revision ${revision.revision} is here, and row ${row.n} pinned another`);
  if (revision.bundleSha !== sha256HexOfText(bundleText)) fail('the bundle text is not the one that was signed');
  const entry = revision.plans.find((p) => p.target === plan.target && p.sourceTool === plan.sourceTool);
  if (entry?.planHash !== planHash) fail('the signed revision does not list this plan');
  const revoked =
    policy.revocation === null ? null : signedByOne('policy-revocation', policy.revocation, operators, 'operator');
  if (revoked !== null && revoked.revision !== revision.revision) fail('the revocation is of another revision');
  const note = revoked === null ? '' : `, revoked at ${revoked.revokedAt}`;
  return [
    `plan ${planHash}, revision ${revision.revision} signed by an operator${note}`,
    { policy, planHash, revokedAt: revoked?.revokedAt ?? null },
  ];
}

/** The staging record hashes to `selected`, and is the one that its row holds. */
export function checkStaging(
  bundle: EvidenceBundle,
  rows: readonly LedgerRow[],
  selected: string | null,
): readonly [string, { readonly record: StagingRecord; readonly sha: string } | 'none'] {
  for (const row of rows) {
    const { stagingSha, record } = row.body;
    if (row.kind !== 'staged' || row.body['rejected'] === true) continue;
    if (stagingSha !== stagingShaOf(record as StagingRecord)) fail(`row ${row.n}: its record hashes otherwise`);
  }
  const { staging, submission } = bundle;
  if (selected === null) {
    if (staging !== null) fail('a staging record is here that nothing rests on');
    return ['none', 'none'];
  }
  if (staging === null) fail(`the staging record ${selected} is missing`);
  if (stagingShaOf(staging) !== selected) fail(`the record hashes to ${stagingShaOf(staging)}, expected ${selected}`);
  if (!rows.some((row) => row.kind === 'staged' && row.body['stagingSha'] === selected))
    fail('no row says that this dry run was made');
  if (staging.target !== submission?.target || staging.sourceTool !== submission.sourceTool)
    fail('the record is of another target or tool');
  return [`stagingSha ${selected}, ${staging.origin}`, { record: staging, sha: selected }];
}
