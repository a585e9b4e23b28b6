/**
 * Applies a verified change after its intent was written, and settles it by the result.
 *
 * P1 An attempt can be delayed between intent and effect. As its last step before the effect it checks whether the change has
 *    ended meanwhile (`endedMeanwhile`). If so, nothing is applied, and the marker is sealed against other delayed attempts. If the
 *    target was frozen meanwhile, this attempt applies nothing, and a later one may (Z1 of target-freezes.ts).
 * P2 If post validators run after the effect, an effect that was found without their results is committed again: the adapter
 *    finds its effect and runs them on it. If they can no longer run, the receipt says so.
 */
import type { StagingRecord } from '../../policy/contracts/staging-record';
import { stagingSha as stagingShaOf } from '../../policy/contracts/staging-record';
import { canonicalJson, type JsonObject } from '../../policy/contracts/canonical-json';
import type { TargetEffects } from '../../policy/contracts/target-effects';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import type { PlanValidator } from '../../policy/contracts/plan';
import { assembleAnswered, isHardBlock } from '../../policy/decide/findings';
import { deriveResults, isStaged } from '../review/derive';
import { outcomesOf } from '../review/finding-rows';
import { withHeartbeat } from '../heartbeat';
import type { SettledOrUnknown } from '../review-types';
import { resolutionOf } from './effect-resolution';
import { recordReasonAndSeal, sealWithRecordedReason, type NotAppliedReason, type SealDeps } from './seal-marker';
import { close, closeApplied, closeRolledBack, type ReceiptFacts } from './settlement';
import { assertNotFrozen } from './target-freezes';
import { targetContext } from './targets';
import type { CommitDeps } from './commit-deps';
import { factsOfVerified } from './receipt-facts';
import type { VerifiedChange } from './verify-change';

/** `found`: the effect exists already, and only its post validators are missing (P2). */
export async function applyChange(
  deps: CommitDeps,
  change: VerifiedChange,
  intentAt: string,
  found = false,
): Promise<SettledOrUnknown> {
  const facts = factsOfVerified(change);
  if (change.plan.mode === 'cooperative') return closeCountersigned(deps, facts);
  const staging = deps.tools.get(change.plan.sourceTool)?.staging ?? null;
  const approved = change.staging;
  if (staging === null || approved === null)
    throw new Error('An enforced change was verified without a staging adapter or a dry run');
  const effects = await staging();
  const result = await commitToTarget(deps, change, { effects, approved, facts, intentAt });
  const unsettled = {
    effects,
    settings: change.plan.staging,
    approved,
    intentAt,
    whenUnchecked: (effect: JsonObject) =>
      found
        ? closeUnchecked(deps, facts, effect, 'the answers of the target contradict each other')
        : checkEffect(deps, change, intentAt, effect),
  };
  const notApplied = (reason: NotAppliedReason['reason'], explanation: string): Promise<SettledOrUnknown> =>
    recordReasonAndSeal(deps, facts, unsettled, { reason, explanation });
  switch (result.kind) {
    case 'applied':
      return closeApplied(deps, facts, result);
    case 'compensated':
      return close(deps, facts, {
        state: 'COMPENSATED',
        reason: 'post_failed',
        explanation: result.explanation,
        effect: result.effect,
      });
    case 'stale':
      return result.final === true
        ? closeRolledBack(deps, facts, 'stale_base', result.explanation)
        : notApplied('stale_base', result.explanation);
    case 'post_failed':
      return notApplied('post_failed', result.explanation);
    case 'refused':
      return notApplied('commit_failed', result.explanation);
    case 'sealed':
      return sealWithRecordedReason(
        deps,
        facts,
        unsettled,
        'The marker was sealed before this attempt, so the change can no longer be applied',
      );
    case 'unknown':
      return { state: 'EFFECT_UNKNOWN', explanation: result.explanation };
    default:
      return result satisfies never;
  }
}

/** P2. The effect was found, so it is not unknown if another client changes it before its post validators run. */
export async function checkEffect(
  deps: CommitDeps,
  change: VerifiedChange,
  intentAt: string,
  effect: JsonObject,
): Promise<SettledOrUnknown> {
  const result = await applyChange(deps, change, intentAt, true);
  if (result.state !== 'EFFECT_UNKNOWN') return result;
  return closeUnchecked(deps, factsOfVerified(change), effect, result.explanation);
}

/** Calls the adapter under a heartbeat, with the post validators and the check of P1. */
function commitToTarget(
  deps: CommitDeps,
  change: VerifiedChange,
  of: {
    readonly effects: TargetEffects;
    readonly approved: StagingRecord;
    readonly facts: ReceiptFacts;
    readonly intentAt: string;
  },
): ReturnType<TargetEffects['commit']> {
  const { effects, approved, facts, intentAt } = of;
  const { changeId } = facts;
  const { target, staging: settings } = change.plan;
  return withHeartbeat((signal) =>
    effects.commit({
      ...targetContext(deps.targets, { target, role: 'commit', changeId, settings, signal }),
      diff: change.diff,
      facts: change.facts,
      approved,
      idempotency: changeId,
      intentAt,
      sends: deps.sends(changeId),
      postCheck: async (record) => postCheck(deps, change, changeId, record),
      endedMeanwhile: () => endedMeanwhile(deps, facts),
    }),
  );
}

/** Cooperative mode: the signed receipt is the only effect here; the requester performs the rest. */
function closeCountersigned(deps: CommitDeps, facts: ReceiptFacts): Promise<SettledOrUnknown> {
  return close(deps, facts, {
    state: 'COMMITTED',
    reason: null,
    explanation: 'Countersigned; the requester performs the effect',
    effect: null,
  });
}

/** P1. An operator's statement that nothing was applied binds every later attempt. Throws TARGET_UNAVAILABLE for a frozen target. */
async function endedMeanwhile(deps: CommitDeps, facts: ReceiptFacts): Promise<string | null> {
  const [rows] = await Promise.all([
    deps.ledger.readKinds(facts.changeId, ['resolved', 'receipt']),
    assertNotFrozen(deps, facts.changeId, facts.target),
  ]);
  if (rows.some(({ row }) => row.kind === 'receipt')) return 'the change had ended before this attempt';
  const resolution = resolutionOf(rows, facts, deps.operators);
  return resolution === null || resolution.applied
    ? null
    : `an operator has resolved the change as not applied: ${resolution.reason}`;
}

/**
 * P2. Closes as committed, with a receipt which says that post validators did not run. No attempt may undo the effect after that; if one
 * has begun to, the effect is unknown, and the next seal finds out.
 */
export async function closeUnchecked(
  deps: SealDeps,
  facts: ReceiptFacts,
  effect: JsonObject,
  why: string,
): Promise<SettledOrUnknown> {
  const { undoing } = await deps.sends(facts.changeId).seal();
  if (undoing !== null)
    return { state: 'EFFECT_UNKNOWN', explanation: `another attempt has begun to undo the effect: ${undoing}` };
  return close(deps, facts, {
    state: 'COMMITTED',
    reason: null,
    explanation: `Committed, but its post validators did not run, because the commit did not report (${why}). Inspect the effect`,
    effect: { ...effect, postValidators: 'not_run' },
  });
}

/**
 * Runs post validators on what the transaction did. A finding equal to one that was disclosed passes, since people confirmed
 * it; every other finding that is not ALLOW, except a SAFETY WARN, fails the check.
 */
async function postCheck(
  deps: CommitDeps,
  change: VerifiedChange,
  changeId: string,
  record: StagingRecord,
): Promise<{ ok: true } | { ok: false; explanation: string }> {
  const { plan, diff, inputSha } = change;
  const evaluation = { changeId, inputSha, diff, staging: { record, sha: stagingShaOf(record) } };
  // What was not rehearsed is measured here for the first time.
  const isFirst = change.staging?.reason === 'not_rehearsed';
  const isPost = (v: PlanValidator): boolean => v.phase === 'post';
  const results = await deriveResults(deps, plan, isFirst ? isStaged : isPost, evaluation);
  const failing = assembleAnswered({ plan, changeId, outcomes: outcomesOf(results), waiving: change.waiving }).filter(
    (f) => {
      const shown = change.findings.find((s) => s.validator_id === f.validator_id);
      const validator = plan.validators.find((v) => v.id === f.validator_id);
      // A person has confirmed that the effect is unknown, but neither what is forbidden nor a claim that the effect contradicts.
      if (
        validator !== undefined &&
        !isPost(validator) &&
        !isHardBlock(f) &&
        validator.implementation !== 'metadata_mismatch'
      )
        return false;
      const same = shown !== undefined && withoutEvidence(shown) === withoutEvidence(f);
      return f.status !== 'ALLOW' && !(f.class === 'SAFETY' && f.status === 'WARN') && !same;
    },
  );
  return failing.length === 0
    ? { ok: true }
    : { ok: false, explanation: failing.map((f) => `${f.validator_id}: ${f.reason}`).join('\n') };
}

/** A finding without its evidence references: the record at commit time can have another hash, e.g. by its server version. */
function withoutEvidence({ evidenceRefs: _refs, ...rest }: ValidatorFinding): string {
  return canonicalJson(rest);
}
