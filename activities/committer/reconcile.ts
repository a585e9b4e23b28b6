import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../policy/contracts/canonical-json';
import { CountersignFailure, invalid } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import { EFFECT_UNKNOWN } from '../../policy/contracts/ledger';
import type { RollbackReason } from '../../policy/contracts/outcome';
import type { Plan } from '../../policy/contracts/plan';
import type { StoredRow } from '../../policy/evidence/chain';
import type { EffectResolution } from '../../policy/evidence/predicates';
import { cutExplanation } from '../../policy/text/cut-text';
import { toolFor } from '../review/derivation';
import type { Settled, SettledOrUnknown } from '../review-types';
import { checkEffect, closeUnchecked } from './apply-change';
import { freezeText } from './target-freezes';
import type { CommitDeps } from './commit-deps';
import { resolutionOf, resolvedEffect } from './effect-resolution';
import { factsOfRows } from './receipt-facts';
import { sealWithRecordedReason } from './seal-marker';
import { beginVerifiedRollback, close, closeRolledBack, planOf, settledOf, type ReceiptFacts } from './settlement';
import { supportedEnding, type SupportedEnding } from './supported-ending';
import { verifyChange, lastNOf, verifyUntilCurrent } from './verify-change';

/**
 * Ends a change whose commit did not report. Without an intent no commit has begun, and writing the rollback first ensures that none
 * can begin; after an intent the target's marker decides. `proposed`: the reason of a rollback; it may also end a change without a plan.
 */
export function reconcile(deps: CommitDeps, changeId: string, proposed?: RollbackReason): Promise<SettledOrUnknown> {
  return verifyUntilCurrent(changeId, () => verifyAndSettle(deps, changeId, proposed));
}

async function verifyAndSettle(
  deps: CommitDeps,
  changeId: string,
  proposed?: RollbackReason,
): Promise<SettledOrUnknown | 'moved'> {
  const rows = await deps.ledger.read(changeId);
  const settled = settledOf(rows);
  if (settled !== null) return settled;
  const facts = factsOfRows(rows, changeId);
  if (facts === null)
    throw invalid('changeId', 'a change that was opened', changeId, 'Only a change with a ledger has an outcome');
  if (proposed === undefined && facts.planHash === null)
    throw invalid('changeId', 'a change with a plan in the ledger', changeId, 'Submit the change first');
  const ending = await endingOf(deps, facts, rows, proposed);
  const settlement = await beginVerifiedRollback(deps, changeId, ending, lastNOf(rows));
  if (settlement === 'moved') return 'moved';
  // Another process may have settled the change after `rows` were read, and after further rows.
  const all = await deps.ledger.read(changeId);
  const final = factsOfRows(all, changeId) ?? facts;
  if (settlement.kind === 'decided') return closeRolledBack(deps, final, settlement.reason, settlement.explanation);
  return recordingUnknown(deps, changeId, () => settleBegun(deps, final, all, settlement.at));
}

/**
 * The effect is unknown if the target cannot tell whether it exists, and also if the target cannot be asked: that is recorded once for
 * each change, so that an operator finds it with `countersign list`. A failure that no retry of the activity resolves, such as a changed
 * password, says nothing about the effect either. It is returned as unknown instead of thrown, so that the target is asked again later.
 */
async function recordingUnknown(
  deps: CommitDeps,
  changeId: string,
  settle: () => Promise<SettledOrUnknown>,
): Promise<SettledOrUnknown> {
  try {
    const result = await settle();
    if (result.state === 'EFFECT_UNKNOWN') await recordUnknown(deps, changeId, result.explanation);
    return result;
  } catch (error) {
    if (!(error instanceof CountersignFailure)) throw error;
    if (error.type === FailureType.Target || error.nonRetryable) await recordUnknown(deps, changeId, error.message);
    if (!error.nonRetryable) throw error;
    return { state: 'EFFECT_UNKNOWN', explanation: error.message };
  }
}

async function recordUnknown(deps: CommitDeps, changeId: string, explanation: string): Promise<void> {
  const body = { check: EFFECT_UNKNOWN, explanation: cutExplanation(explanation) };
  const at = deps.now().toISOString();
  const entry = { kind: 'refused', at, factKey: `refused:${EFFECT_UNKNOWN}`, body } as const;
  await deps.ledger.append(changeId, [entry], { state: 'EFFECT_UNKNOWN' });
}

/** Seals the marker of a change whose commit has begun. */
async function settleBegun(
  deps: CommitDeps,
  facts: ReceiptFacts,
  rows: readonly StoredRow[],
  intentAt: string,
): Promise<SettledOrUnknown> {
  const { changeId } = facts;
  const tool = toolFor(deps.tools, facts.sourceTool);
  // Cooperative: the requester performs the effect only with a receipt, and this receipt forbids it (E3 of settlement.ts).
  if (tool.staging === null)
    return closeRolledBack(deps, facts, 'commit_failed', 'The commit did not report, and no receipt was issued');
  const effects = await tool.staging();
  const plan = await planOf(deps.plans, facts.planHash);
  const unsettled = {
    effects,
    // Without the plan the adapter's default settings have to do.
    settings: (plan?.staging ?? {}) as JsonObject,
    approved: facts.stagingSha === null ? null : await deps.stagingRecords.get(changeId, facts.stagingSha),
    intentAt,
    whenUnchecked: (effect: JsonObject) => checkFound(deps, facts, plan, { effect, rows, intentAt }),
  };
  const resolution = resolutionOf(rows, facts, deps.operators);
  const askTarget = (): Promise<SettledOrUnknown> =>
    sealWithRecordedReason(
      deps,
      facts,
      unsettled,
      'The commit did not report, and the target has no trace of it: nothing was applied, and the marker is sealed',
    );
  return resolution === null ? askTarget() : endResolved(deps, facts, resolution, askTarget, effects.lateMs ?? 0);
}

/** Why a change ends that is rolled back, or whose commit did not report. Not derived for a change with a settlement: its row says it. */
async function endingOf(
  deps: CommitDeps,
  facts: ReceiptFacts,
  rows: readonly StoredRow[],
  proposed: RollbackReason | undefined,
): Promise<SupportedEnding> {
  const hasSettlement = rows.some(({ row }) => row.kind === 'intent' || row.kind === 'decided');
  if (hasSettlement)
    return { reason: 'commit_failed', explanation: 'The commit did not report', at: deps.now().toISOString() };
  if (proposed !== undefined) return supportedEnding(deps, facts, rows, proposed);
  const ending = await supportedEnding(deps, facts, rows, 'commit_failed');
  const freeze = await deps.freezes.current(facts.target);
  return freeze === null ? ending : { ...ending, explanation: `${ending.explanation}: ${freezeText(freeze)}` };
}

/** An effect was found that its commit did not report: runs its post validators, if it has any (P2 of apply-change.ts). */
async function checkFound(
  deps: CommitDeps,
  facts: ReceiptFacts,
  plan: Plan | null,
  { effect, rows, intentAt }: { effect: JsonObject; rows: readonly StoredRow[]; intentAt: string },
): Promise<SettledOrUnknown> {
  if (plan !== null && !plan.validators.some((v) => v.phase === 'post'))
    return close(deps, facts, { state: 'COMMITTED', reason: null, explanation: 'Committed', effect });
  const verified = await verifyChange(deps, { ...facts, planHash: facts.planHash ?? '' }, rows);
  if (!verified.ok) return closeUnchecked(deps, facts, effect, `${verified.check}: ${verified.explanation}`);
  return checkEffect(deps, verified, intentAt, effect);
}

/**
 * Ends a change that an operator resolved. The target is asked first, and its answer takes precedence (O1). If the operator
 * says that nothing was applied, an attempt that checked before that statement may still apply the change, and if it says that it was
 * applied, one may be undoing it: after `lateMs` the target is asked again (O3).
 */
async function endResolved(
  deps: CommitDeps,
  facts: ReceiptFacts,
  resolution: EffectResolution,
  askTarget: () => Promise<SettledOrUnknown>,
  lateMs: number,
): Promise<SettledOrUnknown> {
  const answer = await knownOrNull(askTarget);
  if (answer !== null) return answer;
  const { applied, reason } = resolution;
  // No attempt may begin to undo an effect that is reported. One that has begun may still undo it.
  const final = applied && (await deps.sends(facts.changeId).seal()).undoing === null;
  if (!final && lateMs > 0) {
    await sleep(lateMs);
    const later = await knownOrNull(askTarget);
    if (later !== null) return later;
  }
  return close(deps, facts, {
    state: applied ? 'COMMITTED' : 'ROLLED_BACK',
    reason: applied ? null : 'commit_failed',
    explanation: `An operator stated that it was ${applied ? '' : 'not '}applied: ${reason}`,
    effect: resolvedEffect(resolution),
  });
}

/** The answer of the target; null if it does not know or cannot be asked. */
async function knownOrNull(askTarget: () => Promise<SettledOrUnknown>): Promise<Settled | null> {
  try {
    const answer = await askTarget();
    return answer.state === 'EFFECT_UNKNOWN' ? null : answer;
  } catch (error) {
    // Other failures, such as an unavailable ledger, do not mean that the target cannot answer.
    const type = error instanceof CountersignFailure ? error.type : undefined;
    if (type !== FailureType.Target && type !== FailureType.Configuration) throw error;
    return null;
  }
}
