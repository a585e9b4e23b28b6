import { withoutInline, type DiffInput, type Submission } from '../../policy/contracts/diff';
import { FailureType } from '../../policy/contracts/failure-type';
import { inputSha as inputShaOf } from '../../policy/contracts/change-id';
import type { JsonObject } from '../../policy/contracts/canonical-json';
import { toHistoryPlan } from '../../policy/contracts/history-plan';
import type { Plan } from '../../policy/contracts/plan';
import { toReported } from '../../policy/decide/reported';
import type { ByteStore } from '../../policy/evidence/byte-store';
import { withCurrentKeys, type KeyRegistry } from '../../policy/evidence/key-registry';
import { isAggregate, isStatic } from '../../policy/contracts/readings';
import type { WithAdvisoryLock, Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import { measureOf, type Measure } from '../../policy/rules/aggregate/measure';
import { attestAggregates } from './aggregates';
import { readSubmission } from '../inputs';
import { loadDiff, toolFor } from './derivation';
import { openingLocks } from './opening-locks';
import type { OpenedChange } from './opened-change';
import { CountersignFailure, invalid } from '../../policy/contracts/failure';
import type { PinnedPlan, PlanSource } from '../../storage/plans/plan-source';
import { deriveResults, factsShaOf, readFacts, readTitle, type DerivationDeps } from './derive';
import type { Opened, OpenInput, ReviewActivities, UnitResults } from '../review-types';
import { readRecordedOpening, type RecordedOpening } from './recorded-opening';
import { attestWorldFacts, type WorldFactsDeps } from './attest-world-facts';
import type { UsableAttestor } from '../attestation';
import { findingRows } from './finding-rows';
import {
  assertAcceptable,
  assertContentAddressed,
  assertReplaceable,
  assertStageable,
  storeInline,
} from './check-submission';
import { personOf, refusedEnvelope, requesterOf, warningsOf, type Requester } from './requester';

export interface OpeningDeps extends DerivationDeps {
  readonly store: ByteStore;
  readonly ledger: Ledger;
  readonly withAdvisoryLock: WithAdvisoryLock;
  readonly plans: PlanSource;
  readonly attestor: UsableAttestor;
  readonly breakers: WorldFactsDeps['breakers'];
  readonly keys: Pick<KeyRegistry, 'snapshot'>;
  readonly now: () => Date;
}

/**
 * The first step of a review: checks the submission, pins the plan, attests external facts, runs the static guardians, and opens the
 * ledger. Refuses, without retry: an id that is not the hash of the change, an unknown source tool, missing bytes, inline bytes that
 * the target does not allow, metadata that may not become part of the effect, an invalid signature, a target without a plan, a change
 * in `supersedes` that this one may not replace.
 *
 * O1 A change is opened once. A retry after a lost result or a reset uses the plan that was pinned first, even if a newer one is
 *    published, and attests nothing again: a record under another plan would not be bound to this review. A change that was
 *    withdrawn or superseded stays so (`stopped`).
 * O2 A change that names another one in `supersedes` ends the review of that one once its own row `submitted` is written: its
 *    workflow then signals the other review, which admits the signal by that row. The signature of this submission covers the member
 *    `supersedes`, so no second signature is needed (J3 of assess-withdrawal.ts).
 * O3 A review opens even if its guardians cannot run now. The workflow runs `runGuardians` for those that have no result here.
 */
export function createOpeningActivities(deps: OpeningDeps): Pick<ReviewActivities, 'openReview'> {
  return {
    openReview: (input) => openReview(deps, input),
  };
}

async function openReview(deps: OpeningDeps, { changeId, submission: sent }: OpenInput): Promise<Opened> {
  // The workflow has parsed it already, but this activity may also be scheduled without that workflow.
  const submission = readSubmission(sent);
  const { tenant, target, sourceTool, diffSha, metadata } = submission;
  await assertContentAddressed(deps, changeId, submission);
  const inputSha = inputShaOf(submission);
  assertAcceptable(deps.tools, submission);
  const before = await readRecordedOpening(deps.ledger, changeId);
  const pinned =
    before === null ? await deps.plans.current(target, sourceTool) : await deps.plans.byHash(before.planHash);
  const { plan, planHash } = pinned;
  assertStageable(deps.tools, submission, plan);
  await storeInline(deps.store, submission, plan);
  const ref = { changeId, tenant, target, sourceTool, diffSha, metadata, inputSha, planHash };
  const diff = await loadDiff(deps.store, deps.tools, ref);
  const requester = await withCurrentKeys(deps.keys, (find) => requesterOf(submission, plan.development, find));
  if (requester.kind === 'refused') throw refusedEnvelope(requester.why);
  if (before === null) await assertReplaceable(deps, submission);
  const title = (await ifReadable(() => readTitle(deps, diff))) ?? `${sourceTool} on ${target}`;
  const change = { submission, ref, requester, title, diff };
  if (before !== null) return openedBefore(deps, change, pinned, before);

  const opened = await writeOpening(deps, change, pinned);
  if (opened !== null) return toOpened(change, pinned, { ...opened, stopped: null });
  // A concurrent attempt opened it while this one read the external facts.
  const other = await readRecordedOpening(deps.ledger, changeId);
  if (other === null) throw new Error(`The ledger has the change ${changeId} as opened, but no pinned plan of it`);
  return openedBefore(deps, change, await deps.plans.byHash(other.planHash), other);
}

/** O1. */
async function openedBefore(
  deps: OpeningDeps,
  change: OpeningChange,
  pinned: PinnedPlan,
  { openedAt, stopped, found, results: attested }: RecordedOpening,
): Promise<Opened> {
  const guarded = await runStaticGuardians(deps, pinned.plan, change.ref, change.diff);
  const recorded = Object.entries(guarded).filter(([id]) => found.has(id));
  const results = { ...attested(pinned.plan), ...Object.fromEntries(recorded) };
  return toOpened(change, pinned, { openedAt, results, stopped });
}

function toOpened(
  { ref, requester, title }: OpeningChange,
  { plan, planHash }: PinnedPlan,
  { openedAt, results, stopped }: Pick<Opened, 'openedAt' | 'stopped'> & { readonly results: UnitResults },
): Opened {
  return {
    plan: toHistoryPlan(plan),
    planHash,
    requester: personOf(requester),
    reported: toReported(plan, ref.changeId, results),
    title,
    warnings: warningsOf(plan, requester),
    openedAt,
    stopped,
  };
}

interface OpeningChange {
  readonly submission: Submission;
  readonly ref: OpenedChange;
  readonly requester: Requester;
  readonly title: string;
  readonly diff: DiffInput;
}

/** Appends the rows that open the change, with all results that can be had now. Null if the change is already opened. */
async function writeOpening(
  deps: OpeningDeps,
  change: OpeningChange,
  pinned: PinnedPlan,
): Promise<{ readonly openedAt: string; readonly results: UnitResults } | null> {
  const { submission, ref, title, diff } = change;
  const { plan } = pinned;
  const requester = personOf(change.requester);
  const { changeId, tenant, target, sourceTool, inputSha } = ref;
  const attestor = await deps.attestor();
  const at = deps.now().toISOString();
  const content = await readContent(deps, plan, ref, diff);
  const { factsSha, measure } = content;
  const [world, guarded] = await Promise.all([
    attestWorldFacts({ ...deps, attestor }, plan, { ...ref, factsSha }, at),
    runStaticGuardians(deps, plan, ref, diff),
  ]);
  const opening = openingRows(at, { ...change, ...content }, pinned);
  const append = async (ledger: Ledger) => {
    const measured = { requester, own: measure, supersedes: submission.supersedes ?? null };
    const sums = await attestAggregates({ ledger, attestor }, plan, ref, measured, at);
    const results = { ...world.results, ...sums.results, ...guarded };
    const rows = [...opening, ...world.rows, ...sums.rows, ...findingRows(plan, changeId, 'opening', results, at)];
    const [first] = await ledger.append(changeId, rows, {
      tenant,
      target,
      sourceTool,
      inputSha,
      state: 'RUNNING',
      reason: null,
      mode: plan.mode,
      requester,
      pending: 0,
      openedAt: at,
      summary: title,
    });
    if (first?.status === 'settled') throw alreadyEnded(changeId);
    return first?.existing === true ? null : { openedAt: at, results };
  };
  if (measure === null) return append(deps.ledger);
  return deps.withAdvisoryLock(openingLocks(plan.validators, submission), append);
}

function openingRows(
  at: string,
  change: OpeningChange & Awaited<ReturnType<typeof readContent>>,
  { plan, planHash, revision }: PinnedPlan,
): LedgerEntry[] {
  const { submission, ref, requester, factsSha, measure } = change;
  const known = { ...(factsSha === null ? {} : { factsSha }), ...(measure === null ? {} : { measure }) };
  const submitted = {
    submission: withoutInline(submission) as unknown as JsonObject,
    inputSha: ref.inputSha,
    requester: personOf(requester),
    ...known,
  };
  return [
    { kind: 'submitted', at, factKey: 'submitted', body: submitted },
    { kind: 'planned', at, factKey: 'planned', body: { planHash, revision, mode: plan.mode } },
  ];
}

/** What the bytes of the change say. `factsSha` and `measure` are null if they cannot be read, or are not needed. */
async function readContent(deps: OpeningDeps, plan: Plan, ref: OpenedChange, diff: DiffInput) {
  return {
    factsSha: await ifReadable(() => factsShaOf(deps, ref, diff)),
    measure: await measureIfNeeded(deps, plan, diff),
  };
}

/** O3. */
async function runStaticGuardians(
  deps: OpeningDeps,
  plan: Plan,
  { changeId, inputSha }: OpenedChange,
  diff: DiffInput,
): Promise<UnitResults> {
  try {
    return await deriveResults(deps, plan, isStatic, { changeId, inputSha, diff, staging: null });
  } catch (error) {
    if (error instanceof CountersignFailure) return {};
    throw error;
  }
}

function alreadyEnded(changeId: string): CountersignFailure {
  return invalid(
    'changeId',
    'a change that has not ended',
    `${changeId}, which has`,
    'Submit it under another request key',
  );
}

/** Null if the bytes could not be parsed in time: the change must not wait in its opening, and the committer refuses it. */
async function ifReadable(read: () => Promise<string>): Promise<string | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof CountersignFailure && error.type === FailureType.Backend) return null;
    throw error;
  }
}

/** Operations and rows of the change; null if the plan has no limit over many changes. */
async function measureIfNeeded(deps: OpeningDeps, plan: Plan, diff: DiffInput): Promise<Measure | null> {
  if (!plan.validators.some(isAggregate)) return null;
  return measureOf(toolFor(deps.tools, diff.sourceTool), diff, await readFacts(deps, diff));
}
