import { inputSha as inputShaOf } from '../../policy/contracts/change-id';
import { CountersignFailure, invalid } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import { ReceiptPredicate } from '../../policy/contracts/outcome';
import { stagingSha as stagingShaOf } from '../../policy/contracts/staging-record';
import type { EvidenceBundle } from '../../policy/evidence/bundle';
import type { ReplayReport } from '../../policy/evidence/reports';
import type { ValidatorRegistry } from '../../policy/rules/registry';
import { firstUnmet, verifyReview } from '../../signing/verify-review';
import { mustRunAgain } from '../../signing/verify-review/recomputed';
import { RECORD_ONLY } from '../../signing/verify-review/record';
import { recordOf } from '../../signing/verify-evidence';
import type { SourceToolRegistry } from '../../policy/contracts/source-tool';
import { deriveResults } from './derive';
import { loadDiff } from './derivation';

interface ReplayDeps {
  readonly tools: SourceToolRegistry;
  readonly validators: ValidatorRegistry;
}

/**
 * Computes every derived finding again from the bytes and the recorded dry run, and compares the array byte for byte.
 * Attested entries are kept as recorded, because they depend on external state. Fails with `policy_moved` if this process has
 * other logic than the plan was made with, and with DIGEST_MISMATCH if rows, bytes or plan are not those of the change.
 */
export async function replayFindings(deps: ReplayDeps, bundle: EvidenceBundle, raw: Uint8Array): Promise<ReplayReport> {
  const { submission, policy, changeId, findings } = bundle;
  if (submission === null || policy === null)
    throw invalid(
      'evidence',
      'a change with a plan',
      `${changeId}, which was never opened`,
      'There is nothing to replay',
    );
  const store = { get: async () => raw, has: async () => true, put: async () => submission.diffSha };
  const inputSha = inputShaOf(submission);
  const diff = await loadDiff(store, deps.tools, submission);
  const staging = bundle.staging === null ? null : { record: bundle.staging, sha: stagingShaOf(bundle.staging) };
  const receipt = bundle.rows.find(({ row }) => row.kind === 'receipt')?.row.body['predicate'];
  const committed = ReceiptPredicate.safeParse(receipt).data?.action === 'COMMIT';
  const again = mustRunAgain(findings, committed);
  const derived = await deriveResults(deps, policy.plan, (v) => again(v.id), { changeId, inputSha, diff, staging });
  const { checks, facts } = verifyReview(
    { ...recordOf(bundle), bytes: { ok: true, value: raw } },
    {
      ...RECORD_ONLY,
      context: 'replay',
      trust: null,
      derived: { ok: true, value: derived },
    },
  );
  // Differences go into the report. If any other check is not met, there is nothing to compare.
  const unmet = firstUnmet(
    facts.comparison === undefined ? checks : checks.filter(({ name }) => name !== 'recomputed'),
  );
  if (unmet !== undefined || facts.comparison === undefined)
    throw CountersignFailure.nonRetryable(
      unmet === undefined ? 'The findings could not be computed again' : `${unmet.name}: ${unmet.detail}`,
      FailureType.DigestMismatch,
    );
  return facts.comparison;
}
