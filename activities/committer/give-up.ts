/**
 * How a commit ends that found nothing applied.
 *
 * N1 The marker is sealed before it is said (E2), for another attempt may be under way; what the target shows then stands.
 * N2 Why nothing was applied is in the ledger before the seal. The answer to the seal may be lost, and the next attempt
 *    finds a seal that says no reason.
 */
import { z } from 'zod';
import type { JsonObject } from '../../policy/contracts/canonical-json';
import { NOTHING_APPLIED } from '../../policy/contracts/ledger';
import type { RollbackReason } from '../../policy/contracts/outcome';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import { withHeartbeat } from '../heartbeat';
import type { CommitResult } from '../review-types';
import type { Sends, TargetEffects } from '../../policy/contracts/target-effects';
import { close, closeRolledBack, type ReceiptFacts, type SettlementDeps } from './settlement';
import { targetContext, type Targets } from './targets';
import { cutExplanation } from '../../policy/text/cut-text';

export interface GiveUpDeps extends SettlementDeps {
  readonly targets: Targets;
  readonly sends: (changeId: string) => Sends;
}

export interface Unsettled {
  readonly effects: TargetEffects;
  readonly settings: JsonObject;
  readonly approved: StagingRecord | null;
  readonly intentAt: string | null;
  /** What to do with an effect that is found, and that post validators may not have seen (`unchecked`). */
  readonly whenUnchecked: (effect: JsonObject) => Promise<CommitResult>;
}

const Why = z.object({ reason: z.enum(['stale_base', 'post_failed', 'commit_failed']), explanation: z.string() });
export type Why = z.infer<typeof Why>;

/** This attempt knows why nothing was applied. */
export async function giveUp(
  deps: GiveUpDeps,
  facts: ReceiptFacts,
  unsettled: Unsettled,
  { reason, explanation }: Why,
): Promise<CommitResult> {
  const why = { reason, explanation: cutExplanation(explanation) };
  const body = { check: NOTHING_APPLIED, ...why };
  const at = deps.now().toISOString();
  const factKey = `refused:${NOTHING_APPLIED}:${reason}`;
  await deps.ledger.append(facts.changeId, [{ kind: 'refused', at, actor: deps.actor, factKey, body }]);
  return sealAndEnd(deps, facts, unsettled, why);
}

/** This attempt finds a seal, or no trace at all: an earlier one may have left the reason. */
export async function giveUpUnheard(
  deps: GiveUpDeps,
  facts: ReceiptFacts,
  unsettled: Unsettled,
  otherwise: string,
): Promise<CommitResult> {
  const rows = await deps.ledger.readKinds(facts.changeId, ['refused']);
  const left = Why.safeParse(rows.findLast(({ row }) => row.body['check'] === NOTHING_APPLIED)?.row.body);
  const why = left.success ? left.data : ({ reason: 'commit_failed', explanation: otherwise } as const);
  return sealAndEnd(deps, facts, unsettled, why);
}

async function sealAndEnd(
  deps: GiveUpDeps,
  facts: ReceiptFacts,
  { effects, settings, approved, intentAt, whenUnchecked }: Unsettled,
  why: { readonly reason: RollbackReason; readonly explanation: string },
): Promise<CommitResult> {
  const found = await withHeartbeat((signal, beat) =>
    effects.seal({
      ...targetContext(deps.targets, facts.target, 'commit', facts.changeId, settings, signal, beat),
      approved,
      intentAt,
      sends: deps.sends(facts.changeId),
    }),
  );
  switch (found.found) {
    case true:
      if (found.unchecked === true) return whenUnchecked(found.effect);
      return close(deps, facts, { state: 'COMMITTED', reason: null, explanation: 'Committed', effect: found.effect });
    case false:
      return closeRolledBack(deps, facts, why.reason, why.explanation);
    case 'undone': {
      const { explanation, effect } = found;
      return close(deps, facts, { state: 'COMPENSATED', reason: 'post_failed', explanation, effect });
    }
    case 'unknown':
      return { state: 'EFFECT_UNKNOWN', explanation: found.explanation };
    default:
      return found satisfies never;
  }
}
