import { canonicalJson } from '../../policy/contracts/canonical-json';
import { inputSha as inputShaOf } from '../../policy/contracts/change-id';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import { sha256Hex } from '../../policy/contracts/hash';
import type { Plan } from '../../policy/contracts/plan';
import { planHash as planHashOf } from '../../policy/contracts/plan';
import { stagingSha as stagingShaOf } from '../../policy/contracts/staging-record';
import { assembleFindings, FILLED_HERE, type RawOutcome, type SkipReason } from '../../policy/decide/findings';
import type { EvidenceBundle } from '../../policy/evidence/bundle';
import { waivingOf } from '../../policy/evidence/recorded-findings';
import type { FindingDifference, ReplayReport } from '../../policy/evidence/reports';
import type { ValidatorRegistry } from '../../policy/rules/registry';
import { loadDiff } from './load-diff';
import { digestMismatch, invalid } from '../../policy/contracts/failure';
import { deriveResults } from './derive';
import type { SourceToolRegistry } from '../../source-tools/define';

export interface ReplayDeps {
  readonly tools: SourceToolRegistry;
  readonly validators: ValidatorRegistry;
}

/**
 * Computes every derived finding again from the bytes and the recorded dry run, and compares the array byte for byte.
 * Attested entries are kept as recorded: their makers read the world. Fails with `policy_moved` where this process has
 * other logic than the plan, DIGEST_MISMATCH where bytes or plan are not those of the change.
 */
export async function replayFindings(deps: ReplayDeps, bundle: EvidenceBundle, raw: Uint8Array): Promise<ReplayReport> {
  const { submission, policy, changeId, findings: recorded } = bundle;
  if (submission === null || policy === null)
    throw invalid(
      'evidence',
      'a change with a plan',
      `${changeId}, which was never opened`,
      'There is nothing to replay',
    );
  const { plan } = policy;
  const pinned = bundle.rows.find(({ row }) => row.kind === 'planned')?.row.body['planHash'];
  if (planHashOf(plan) !== pinned) throw digestMismatch('planHash', String(pinned), planHashOf(plan));
  if (sha256Hex(raw) !== submission.diffSha) throw digestMismatch('diffSha', submission.diffSha, sha256Hex(raw));

  const store = { get: async () => raw, has: async () => true, put: async () => submission.diffSha };
  const inputSha = inputShaOf(submission);
  const diff = await loadDiff(store, deps.tools, { ...submission, inputSha });
  const staging = bundle.staging === null ? null : { record: bundle.staging, sha: stagingShaOf(bundle.staging) };
  const ran = ranAgain(plan, recorded);
  const results = await deriveResults(deps, plan, (v) => ran.has(v.id), {
    changeId,
    inputSha,
    diff,
    staging,
  });
  const outcomes = new Map<string, RawOutcome>(
    Object.entries(results).map(([id, result]) => [id, { kind: 'result', result }]),
  );
  const waiving = waivingOf(bundle.rows.map(({ row }) => row));
  const made = assembleFindings({ plan, changeId, outcomes: withRecorded(plan, recorded, outcomes), waiving });
  return compare(
    changeId,
    recorded,
    made.filter((f) => outcomes.has(f.validator_id) || recorded.some((r) => r.validator_id === f.validator_id)),
    outcomes.size,
  );
}

/** The derived validators that ran: each that is recorded, and not as skipped. */
function ranAgain(plan: Plan, recorded: readonly ValidatorFinding[]): ReadonlySet<string> {
  const derived = plan.validators.filter((v) => v.kind === 'derived');
  return new Set(
    derived.filter((v) => recorded.some((f) => f.validator_id === v.id && f.status !== 'SKIPPED')).map((v) => v.id),
  );
}

/** What is not derived, as it was recorded. */
function withRecorded(
  plan: Plan,
  recorded: readonly ValidatorFinding[],
  outcomes: ReadonlyMap<string, RawOutcome>,
): ReadonlyMap<string, RawOutcome> {
  const all = new Map(outcomes);
  for (const validator of plan.validators) {
    const finding = recorded.find((f) => f.validator_id === validator.id);
    if (finding === undefined || all.has(validator.id) || FILLED_HERE.has(validator.id)) continue;
    if (validator.kind === 'attested' || finding.status === 'SKIPPED') all.set(validator.id, asRecorded(finding));
  }
  return all;
}

function asRecorded(finding: ValidatorFinding): RawOutcome {
  const { phase: _phase, class: _class, logic_hash: _hash, ...result } = finding;
  if (finding.status === 'SKIPPED') return { kind: 'skipped', reasonCode: (finding.reasonCode ?? '') as SkipReason };
  return { kind: 'result', result };
}

function compare(
  changeId: string,
  recorded: readonly ValidatorFinding[],
  made: readonly ValidatorFinding[],
  recomputed: number,
): ReplayReport {
  const ids = [...new Set([...recorded, ...made].map((f) => f.validator_id))];
  const notReproducible: string[] = [];
  const differences: FindingDifference[] = [];
  for (const validatorId of ids) {
    const was = recorded.find((f) => f.validator_id === validatorId);
    const is = made.find((f) => f.validator_id === validatorId);
    const [a, b] = [was, is].map((f) => (f === undefined ? null : canonicalJson(f)));
    if (a === b) continue;
    if (was?.errorClass !== undefined && was.reproducible === false) notReproducible.push(validatorId);
    else differences.push({ validatorId, recorded: a ?? null, recomputed: b ?? null });
  }
  const inOrder = notReproducible.length > 0 || canonicalJson(recorded) === canonicalJson(made);
  return {
    changeId,
    equal: differences.length === 0 && inOrder,
    recomputed,
    findings: recorded.length,
    notReproducible,
    differences,
  };
}
