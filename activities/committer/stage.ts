import { isStatic } from '../../policy/contracts/readings';
import { withHeartbeat } from '../heartbeat';
import { toWellFormed, type JsonObject, type JsonValue } from '../../policy/contracts/canonical-json';
import { previewSha, stagingSha as stagingShaOf, type StagingRecord } from '../../policy/contracts/staging-record';
import { assembleAnswered, isHardBlock } from '../../policy/decide/findings';
import { toReported } from '../../policy/decide/reported';
import { cardinalityOf } from '../../policy/decide/violations';
import type { Ledger } from '../../policy/evidence/ledger-port';
import { loadDiff, toolFor } from '../review/derivation';
import { readInput } from '../inputs';
import { ENDING_ROWS, isEnding, openedChange, OPENED_ROWS, type OpenedChange } from '../review/opened-change';
import { deriveResults, isStaged, readFacts } from '../review/derive';
import { findingRows, outcomesOf } from '../review/finding-rows';
import { refusedEntry } from '../review/refused-entry';
import type { CommitActivities, DryRun } from '../review-types';
import type { SourceTool } from '../../policy/contracts/source-tool';
import type { StageContext, Staged } from '../../policy/contracts/target-effects';
import type { TargetSlots } from './target-slots';
import { targetContext, type Targets } from './targets';
import { stagedMeasureOf } from '../../policy/rules/aggregate/measure';
import type { VerificationDeps } from './collect-record';

export interface StagingStore {
  put(changeId: string, stagingSha: string, record: StagingRecord, preview: JsonObject): Promise<void>;
  /** Records the start of a dry run. `lost`: earlier ones that started and did not end, because their worker was lost. */
  begin(changeId: string): Promise<{ readonly attempt: string; readonly lost: number }>;
  end(changeId: string, attempt: string): Promise<void>;
}

export interface StagingDeps extends Pick<VerificationDeps, 'store' | 'plans' | 'tools' | 'validators' | 'threads'> {
  readonly ledger: Ledger;
  readonly staging: StagingStore;
  readonly targets: Targets;
  readonly slots: TargetSlots;
  readonly now: () => Date;
}

/**
 * The dry run. It computes the static findings again and executes nothing if there is a SAFETY BLOCK, so that scheduling this
 * activity directly cannot bypass the guardians. After the dry run it runs the validators that need its record.
 */
export function createStagingActivities(deps: StagingDeps): Pick<CommitActivities, 'stage'> {
  return {
    async stage(input) {
      const { changeId } = readInput('stage', input);
      const rows = await deps.ledger.readKinds(changeId, [...OPENED_ROWS, ...ENDING_ROWS]);
      const change = openedChange(changeId, rows);
      if (isEnding(rows)) return refuse(deps, changeId, 'The change ends or has ended, so nothing is rehearsed');
      return withHeartbeat((signal) => deps.slots.run(change, signal, () => stageOpened(deps, change, signal)));
    },
  };
}

async function stageOpened(deps: StagingDeps, ref: OpenedChange, signal: AbortSignal): Promise<DryRun> {
  const { plan } = await deps.plans.byHash(ref.planHash);
  const diff = await loadDiff(deps.store, deps.tools, ref);
  const tool = toolFor(deps.tools, ref.sourceTool);
  const evaluation = { changeId: ref.changeId, inputSha: ref.inputSha, diff, staging: null };

  const outcomes = outcomesOf(await deriveResults(deps, plan, isStatic, evaluation));
  const forbidding = assembleAnswered({ plan, changeId: ref.changeId, outcomes }).filter(isHardBlock);
  if (plan.target !== ref.target || plan.sourceTool !== ref.sourceTool)
    return refuse(deps, ref.changeId, 'The plan is for another target or source tool');
  if (forbidding.length > 0)
    return refuse(deps, ref.changeId, forbidding.map((f) => `${f.validator_id}: ${f.reason}`).join('\n'));

  const facts = await readFacts(deps, diff);
  const run = await dryRun(deps, tool, ref, { diff, facts, settings: plan.staging, signal });
  if (run.kind === 'rejected') {
    const stale = run.stale === true ? ({ stale: true } as const) : {};
    const body = { rejected: true, ...stale, explanation: run.explanation };
    await deps.ledger.append(ref.changeId, [
      { kind: 'staged', at: deps.now().toISOString(), factKey: 'staged:rejected', body },
    ]);
    return { kind: 'rejected', ...stale, explanation: run.explanation };
  }
  const preview = wellFormed(run.preview) as JsonObject;
  const record = { ...run.record, previewSha: Object.keys(preview).length === 0 ? null : previewSha(preview) };
  const stagingSha = stagingShaOf(record);
  await deps.staging.put(ref.changeId, stagingSha, record, preview);
  const results = await deriveResults(deps, plan, isStaged, {
    ...evaluation,
    staging: { record, sha: stagingSha },
  });
  const at = deps.now().toISOString();
  const body = {
    stagingSha,
    record: record as unknown as JsonObject,
    measured: stagedMeasureOf(tool, diff, facts, record),
  };
  const staged = { kind: 'staged' as const, at, factKey: `staged:${stagingSha}`, body };
  const rows = [staged, ...findingRows(plan, ref.changeId, `staged:${stagingSha}`, results, at)];
  const title = tool.title(facts, diff, record);
  await deps.ledger.append(ref.changeId, rows, { summary: title });
  const reported = toReported(plan, ref.changeId, results);
  return { kind: 'staged', stagingSha, cardinality: cardinalityOf(record), title, reported };
}

async function refuse(deps: StagingDeps, changeId: string, explanation: string): Promise<DryRun> {
  await deps.ledger.append(changeId, [refusedEntry(deps.now(), { check: 'stage', of: { changeId }, explanation })]);
  return { kind: 'refused', explanation };
}

async function dryRun(
  deps: StagingDeps,
  tool: SourceTool,
  ref: OpenedChange,
  change: Pick<StageContext, 'diff' | 'facts'> & { readonly settings: unknown; readonly signal: AbortSignal },
): Promise<Staged> {
  // Cooperative: the committer cannot reach the target, so the record only contains what the requester claims.
  if (tool.staging === null) return { kind: 'staged', record: claimedRecord(ref), preview: {} };
  const effects = await tool.staging();
  const { changeId, target } = ref;
  const { settings, signal, diff, facts } = change;
  const { attempt, lost } = await deps.staging.begin(changeId);
  try {
    if (lost > MAX_LOST) return workerLost(lost);
    return await effects.stage({
      ...targetContext(deps.targets, { target, role: 'stage', changeId, settings, signal }),
      diff,
      facts,
    });
  } finally {
    await deps.staging.end(changeId, attempt);
  }
}

/** A dry run whose worker was lost is repeated once: the dry run itself may be what ended the worker. */
const MAX_LOST = 1;

function workerLost(lost: number): Staged {
  return {
    kind: 'rejected',
    explanation: `the worker was lost during ${lost} dry runs of this change, so it is not repeated; submit the change again`,
  };
}

/** Rows can contain text that canonical JSON rejects. */
function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return toWellFormed(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [toWellFormed(name), wellFormed(member ?? null)]),
  );
}

function claimedRecord(ref: OpenedChange): StagingRecord {
  return {
    sourceTool: ref.sourceTool,
    target: ref.target,
    origin: 'claimed',
    statements: [],
    tables: [],
    sideEffects: [],
    fullyCaptured: true,
    uncaptured: [],
    reason: null,
    notCompared: [],
    previewSha: null,
    base: {},
    serverVersion: 'cooperative',
  };
}
