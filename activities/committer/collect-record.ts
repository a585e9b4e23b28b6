/**
 * Collects the input of `verifyReview` before a commit, from sources that the committer reads itself: ledger rows, stored
 * bytes, its own staging record and copy of the policy, the current keys, and the derived findings computed again. Workflow
 * input only selects the change.
 */
import type { DiffInput, Submission } from '../../policy/contracts/diff';
import { changeId as changeIdOf, inputSha as inputShaOf } from '../../policy/contracts/change-id';
import type { JsonValue } from '../../policy/contracts/canonical-json';
import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import type { RollbackReason } from '../../policy/contracts/outcome';
import type { Plan, PlanValidator } from '../../policy/contracts/plan';
import { isAggregate } from '../../policy/contracts/readings';
import { stagingSha as stagingShaOf, type StagingRecord } from '../../policy/contracts/staging-record';
import type { ByteStore } from '../../policy/evidence/byte-store';
import type { StoredRow } from '../../policy/evidence/chain';
import { withoutUnsignedRevocations, type KeyRegistry } from '../../policy/evidence/key-registry';
import type { LedgerReader } from '../../policy/evidence/ledger-port';
import { recordedFindings } from '../../policy/evidence/recorded-findings';
import type { AggregateRecord } from '../../policy/rules/aggregate/aggregate';
import { measureOf } from '../../policy/rules/aggregate/measure';
import type { CountedSums, ReviewRecord, ReviewSources, Supplied } from '../../signing/verify-review/record';
import { mustRunAgain } from '../../signing/verify-review/recomputed';
import { targetUnavailable } from '../../source-tools/target-failure';
import type { PlanSource } from '../../storage/plans/plan-source';
import { aggregateConfigOf, readAggregateRecord } from '../review/aggregates';
import { toolFor, loadDiff } from '../review/derivation';
import { deriveResults, factsShaOf, readFacts, type DerivationDeps } from '../review/derive';
import type { CommitInput } from '../review-types';
import { requesterIn, rowOf, submissionIn } from '../rows';

export interface StagingRecords {
  get(changeId: string, stagingSha: string): Promise<StagingRecord | null>;
}

export interface VerificationDeps extends DerivationDeps {
  readonly store: ByteStore;
  readonly plans: PlanSource;
  readonly keys: KeyRegistry;
  readonly stagingRecords: StagingRecords;
  readonly ledger: LedgerReader;
  /** Whether this committer's configuration marks the target as `development`; null for a target that it does not serve. */
  readonly targetIsDevelopment: (target: string) => boolean | null;
  readonly now: () => Date;
  /** The clock of the database: deadlines and the commit window are compared with it. */
  readonly databaseNow: () => Promise<Date>;
}

export interface AskedCommit extends CommitInput {
  /**
   * The reason of a rollback that is requested instead. Then only the rules that ran are run again, no sums are read, and what evidence does
   * not have is not used, so that its verifier asks the same question: unsigned revocations do not count, and nonces are not looked up.
   */
  readonly ending?: RollbackReason;
}

interface CollectedReview {
  readonly record: ReviewRecord;
  readonly sources: ReviewSources;
  /** Null if the bytes could not be read; the check `bytes` says why. */
  readonly diff: DiffInput | null;
  /** Whether the plan was revoked, or this process has other logic than the plan was made with. */
  readonly policyMoved: boolean;
}

/**
 * Uses a value to look up the next one only after it was checked: it reads no bytes for a submission of another change, and no
 * plan that the review did not pin. Throws retryable failures such as STORE_UNAVAILABLE; others become a refused source.
 */
export async function collectReview(
  deps: VerificationDeps,
  asked: AskedCommit,
  rows: readonly StoredRow[],
): Promise<CollectedReview> {
  const { changeId } = asked;
  // Taken before keys and revocations are read, so that every revocation up to this time is included.
  const at = (await deps.databaseNow()).toISOString();
  const lookUp = new Lookups();
  const planned = rowOf(rows, 'planned')?.body;
  const submission = submissionIn(rows);
  const [pinned, loaded, staging, keys, nonces] = await Promise.all([
    planned?.['planHash'] === asked.planHash
      ? lookUp.run(() => deps.plans.byHash(asked.planHash, 'now', revisionIn(planned)))
      : null,
    submission === null || changeIdOf(submission) !== changeId
      ? null
      : lookUp.run(() => loadDiff(deps.store, deps.tools, submission)),
    asked.stagingSha === null ? null : deps.stagingRecords.get(changeId, asked.stagingSha),
    // Bypasses the cache: this is the last time that revocations are checked.
    deps.keys.snapshot(0),
    asked.ending === undefined ? deps.ledger.spentNonces(changeId) : null,
  ]);
  const plan = pinned?.ok === true ? pinned.value.plan : null;
  const diff = loaded?.ok === true ? loaded.value : null;
  const inputSha = submission === null ? '' : inputShaOf(submission);
  const runnable = plan !== null && diff !== null && (asked.stagingSha === null) === (staging === null);
  // One after the other: the thread that parsed the bytes for the rules still has the facts.
  const derived = !runnable
    ? null
    : await lookUp.run(() =>
        deriveResults(deps, plan, ranIn(asked, plan, rows), {
          changeId,
          inputSha,
          diff,
          staging: staging === null ? null : { record: staging, sha: stagingShaOf(staging) },
        }),
      );
  const factsSha =
    submission === null || diff === null ? null : await lookUp.run(() => factsShaOf(deps, submission, diff));
  const sums =
    !runnable || submission === null || asked.ending !== undefined
      ? null
      : await sumsOf(deps, lookUp, { asked, plan, submission, rows, diff });
  return {
    diff,
    policyMoved: lookUp.policyMoved,
    record: {
      changeId,
      rows,
      bytes: loaded?.ok === true ? { ok: true, value: loaded.value.raw } : loaded,
      plan,
      staging,
      preview: null,
      asked,
      file: null,
    },
    sources: {
      context: 'commit',
      at,
      policy: pinned?.ok === true ? { ok: true, value: { revision: pinned.value.revision } } : pinned,
      keys: asked.ending === undefined ? keys.find : withoutUnsignedRevocations(keys.find),
      trust: null,
      derived,
      sums,
      rejects: await deps.ledger.rejectedInputs(
        { inputSha, factsSha: factsSha?.ok === true ? factsSha.value : null },
        changeId,
      ),
      factsSha,
      nonces,
      target:
        plan === null
          ? null
          : { mode: deps.tools.get(plan.sourceTool)?.mode ?? null, development: deps.targetIsDevelopment(plan.target) },
    },
  };
}

/** For a rollback: the validators that ran, by the rows. */
function ranIn(asked: AskedCommit, plan: Plan, rows: readonly StoredRow[]): (validator: PlanValidator) => boolean {
  const { changeId, ending: reason, stagingSha } = asked;
  if (reason === undefined) return () => true;
  const end = { action: 'ROLLBACK', reason, stagingSha } as const;
  const recorded = recordedFindings({ plan, changeId, rows: rows.map(({ row }) => row), end });
  const again = mustRunAgain(recorded, false);
  return ({ id }) => again(id);
}

/** Turns failures that are not retryable into refused sources: this process cannot verify the change. */
class Lookups {
  policyMoved = false;

  async run<T>(work: () => Promise<T>): Promise<Supplied<T>> {
    try {
      return { ok: true, value: await work() };
    } catch (error) {
      if (!(error instanceof CountersignFailure) || !error.nonRetryable) throw error;
      this.policyMoved ||= error.type === FailureType.PolicyMoved;
      return { ok: false, explanation: `${error.type}: ${error.message}` };
    }
  }
}

/**
 * Computes the sums again, from the ledger and the bytes. Throws TARGET_UNAVAILABLE, retried until the commit window ends, while
 * the change that this one supersedes is still open: it was not counted, and might still be committed.
 */
async function sumsOf(
  deps: VerificationDeps,
  lookUp: Lookups,
  of: {
    readonly asked: AskedCommit;
    readonly plan: Plan;
    readonly submission: Submission;
    readonly rows: readonly StoredRow[];
    readonly diff: DiffInput;
  },
): Promise<Supplied<CountedSums>> {
  const needed = new Map<string, AggregateRecord>();
  const limits = of.plan.validators.filter(isAggregate);
  if (limits.length === 0) return { ok: true, value: { own: null, needed } };
  const { tenant, target, sourceTool, supersedes = null } = of.submission;
  const { changeId } = of.asked;
  const own = measureOf(toolFor(deps.tools, sourceTool), of.diff, await readFacts(deps, of.diff));
  const openedAt = rowOf(of.rows, 'submitted')?.at ?? '';
  const change = { tenant, target, sourceTool, requester: requesterIn(of.rows), openedAt, own };
  return lookUp.run(async () => {
    for (const validator of limits) {
      const record = await readAggregateRecord(deps.ledger, changeId, aggregateConfigOf(validator), change, null);
      needed.set(validator.id, record);
      const replaced = record.counted.find((c) => c.changeId === supersedes);
      if (replaced !== undefined && (await deps.ledger.readKinds(replaced.changeId, ['closed'])).length === 0)
        throw targetUnavailable(target, `the review ${replaced.changeId}, which this change supersedes, is still open`);
    }
    return { own: own as unknown as JsonValue, needed };
  });
}

function revisionIn(planned: Readonly<Record<string, unknown>> | undefined): number | undefined {
  const revision = planned?.['revision'];
  return typeof revision === 'number' ? revision : undefined;
}
