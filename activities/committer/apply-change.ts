/**
 * The effect of a verified change, whose intent stands, and what becomes of it.
 *
 * P1 Whoever sleeps between intent and effect asks, as the last thing before the effect, whether the change has ended
 *    meanwhile (`endedMeanwhile`); where it has, nothing is applied, and the marker is sealed for whoever still sleeps.
 * P2 Where post validators run after the effect, one that was found without them is committed again: the adapter finds its
 *    own effect, and runs them on it. Where they cannot run any more, the receipt says so; nothing is claimed that was not
 *    checked.
 */
import type { StagingRecord } from '../../policy/contracts/staging-record';
import { stagingSha as stagingShaOf } from '../../policy/contracts/staging-record';
import { canonicalJson, type JsonObject } from '../../policy/contracts/canonical-json';
import { changeId as changeIdOf } from '../../policy/contracts/change-id';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import { assembleAnswered } from '../../policy/decide/findings';
import type { Ledger } from '../../policy/evidence/ledger-port';
import { deriveResults } from '../review/derive';
import { withHeartbeat } from '../heartbeat';
import type { CommitResult, Settled } from '../review-types';
import { resolutionOf } from './effect-resolution';
import { giveUp, giveUpUnheard, type GiveUpDeps, type Why } from './give-up';
import { close, closeRolledBack, settledOf, type ReceiptFacts } from './settlement';
import { targetContext } from './targets';
import type { VerificationDeps } from './collect-record';
import type { VerifiedChange } from './verify-change';

export interface ApplyDeps extends VerificationDeps, Omit<GiveUpDeps, 'ledger'> {
  readonly ledger: Ledger;
  /** Public keys of the operators whose word on an unknown effect counts. */
  readonly operators: readonly string[];
}

/** `found`: its effect was found already, and is checked now. */
export async function applyChange(
  deps: ApplyDeps,
  change: VerifiedChange,
  intentAt: string,
  found = false,
): Promise<CommitResult> {
  const facts = factsOfVerified(change);
  if (change.plan.mode === 'cooperative') return closeCountersigned(deps, facts);
  const staging = deps.tools.get(change.plan.sourceTool)?.staging ?? null;
  const approved = change.staging;
  if (staging === null || approved === null)
    throw new Error('An enforced change was verified without effects or dry run');
  const effects = await staging();
  const result = await withHeartbeat((signal, beat) =>
    effects.commit({
      ...targetContext(deps.targets, change.plan.target, 'commit', facts.changeId, change.plan.staging, signal, beat),
      diff: change.diff,
      facts: change.facts,
      approved,
      idempotency: facts.changeId,
      intentAt,
      sends: deps.sends(facts.changeId),
      postCheck: async (record) => postCheck(deps, change, facts.changeId, record),
      endedMeanwhile: () => endedMeanwhile(deps, facts),
    }),
  );
  const unsettled = {
    effects,
    settings: change.plan.staging,
    approved,
    intentAt,
    whenUnchecked: (effect: JsonObject) =>
      found
        ? closeUnchecked(deps, facts, effect, 'the target tells two things')
        : applyChange(deps, change, intentAt, true),
  };
  const nothing = (
    reason: Why['reason'],
    { explanation, final }: { readonly explanation: string; readonly final?: true },
  ): Promise<CommitResult> =>
    final === true
      ? closeRolledBack(deps, facts, reason, explanation)
      : giveUp(deps, facts, unsettled, { reason, explanation });
  switch (result.kind) {
    case 'applied':
      return close(deps, facts, {
        state: 'COMMITTED',
        reason: null,
        explanation:
          result.stands === undefined
            ? 'Committed'
            : `Committed, and it should not stand: ${result.stands}. Submit its reverse as a new change`,
        effect: result.stands === undefined ? result.effect : { ...result.effect, shouldNotStand: result.stands },
      });
    case 'compensated':
      return close(deps, facts, {
        state: 'COMPENSATED',
        reason: 'post_failed',
        explanation: result.explanation,
        effect: result.effect,
      });
    case 'stale':
      return nothing('stale_base', result);
    case 'post_failed':
      return nothing('post_failed', result);
    case 'refused':
      return nothing('commit_failed', result);
    case 'sealed':
      return giveUpUnheard(deps, facts, unsettled, 'The change was sealed: it had been given up before this attempt');
    case 'unknown':
      return { state: 'EFFECT_UNKNOWN', explanation: result.explanation };
    default:
      return result satisfies never;
  }
}

/** The signed receipt is the whole effect here; the requester performs the rest. */
function closeCountersigned(deps: ApplyDeps, facts: ReceiptFacts): Promise<CommitResult> {
  return close(deps, facts, {
    state: 'COMMITTED',
    reason: null,
    explanation: 'Countersigned; the requester performs the effect',
    effect: null,
  });
}

/** P1. An operator's word that nothing was applied holds for every attempt that comes after it. */
async function endedMeanwhile(deps: ApplyDeps, facts: ReceiptFacts): Promise<string | null> {
  const rows = await deps.ledger.readKinds(facts.changeId, ['resolved', 'receipt']);
  if (settledOf(rows) !== null) return 'the change had ended before this attempt';
  const said = resolutionOf(rows, facts, deps.operators);
  return said === null || said.applied ? null : `an operator has ended it meanwhile: ${said.reason}`;
}

/** P2. */
export function closeUnchecked(
  deps: GiveUpDeps,
  facts: ReceiptFacts,
  effect: JsonObject,
  why: string,
): Promise<Settled> {
  return close(deps, facts, {
    state: 'COMMITTED',
    reason: null,
    explanation: `Committed; its post validators did not run on it, since the commit did not report (${why}). Look at it`,
    effect: { ...effect, postValidators: 'not_run' },
  });
}

/** Post validators on what the transaction really did; a result equal to a confirmed one passes, any other that is not ALLOW rolls back. */
async function postCheck(
  deps: ApplyDeps,
  change: VerifiedChange,
  changeId: string,
  record: StagingRecord,
): Promise<{ ok: true } | { ok: false; explanation: string }> {
  const { plan, diff, inputSha } = change;
  const evaluation = { changeId, inputSha, diff, staging: { record, sha: stagingShaOf(record) } };
  const results = await deriveResults(deps, plan, (v) => v.phase === 'post', evaluation);
  const outcomes = new Map(Object.entries(results).map(([id, result]) => [id, { kind: 'result', result } as const]));
  const failing = assembleAnswered({ plan, changeId, outcomes, waiving: change.waiving }).filter((f) => {
    const shown = change.findings.find((s) => s.validator_id === f.validator_id);
    const same = shown !== undefined && said(shown) === said(f);
    return f.status !== 'ALLOW' && !(f.class === 'SAFETY' && f.status === 'WARN') && !same;
  });
  return failing.length === 0
    ? { ok: true }
    : { ok: false, explanation: failing.map((f) => `${f.validator_id}: ${f.reason}`).join('\n') };
}

/** What a finding says, apart from where: the record of commit time has another hash wherever its server version, say, differs. */
function said({ evidenceRefs: _refs, ...rest }: ValidatorFinding): string {
  return canonicalJson(rest);
}

export function factsOfVerified(change: VerifiedChange): ReceiptFacts {
  const { submission, inputSha, plan, planHash, stagingSha, fingerprint } = change;
  const { tenant, target, sourceTool, diffSha } = submission;
  return {
    changeId: changeIdOf(submission),
    tenant,
    target,
    sourceTool,
    inputSha,
    diffSha,
    planHash,
    stagingSha,
    fingerprint,
    mode: plan.mode,
  };
}
