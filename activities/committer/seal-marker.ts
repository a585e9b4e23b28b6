/**
 * Settles a commit after nothing was applied.
 *
 * N1 The marker is sealed before the change is closed (E2 of settlement.ts), since another attempt may be running. If the seal
 *    finds an effect, the change ends as the target says.
 * N2 The reason is written to the ledger before the seal. The answer to the seal may be lost, and a seal has no reason.
 */
import { z } from 'zod';
import type { JsonObject } from '../../policy/contracts/canonical-json';
import { NOTHING_APPLIED } from '../../policy/contracts/ledger';
import type { RollbackReason } from '../../policy/contracts/outcome';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import { withHeartbeat } from '../heartbeat';
import type { SettledOrUnknown } from '../review-types';
import type { Sends, TargetEffects } from '../../policy/contracts/target-effects';
import { close, closeApplied, closeRolledBack, type ReceiptFacts, type SettlementDeps } from './settlement';
import { targetContext, type Targets } from './targets';
import { cutExplanation } from '../../policy/text/cut-text';

export interface SealDeps extends SettlementDeps {
  readonly targets: Targets;
  readonly sends: (changeId: string) => Sends;
}

interface Unsettled {
  readonly effects: TargetEffects;
  readonly settings: JsonObject;
  readonly approved: StagingRecord | null;
  readonly intentAt: string | null;
  /** Called if an effect is found on which post validators may not have run (`unchecked`). */
  readonly whenUnchecked: (effect: JsonObject) => Promise<SettledOrUnknown>;
}

const NotAppliedReason = z.object({
  reason: z.enum(['stale_base', 'post_failed', 'commit_failed']),
  explanation: z.string(),
});
export type NotAppliedReason = z.infer<typeof NotAppliedReason>;

/** For an attempt that knows why nothing was applied. */
export async function recordReasonAndSeal(
  deps: SealDeps,
  facts: ReceiptFacts,
  unsettled: Unsettled,
  { reason, explanation }: NotAppliedReason,
): Promise<SettledOrUnknown> {
  const why = { reason, explanation: cutExplanation(explanation) };
  const body = { check: NOTHING_APPLIED, ...why };
  const at = deps.now().toISOString();
  const factKey = `refused:${NOTHING_APPLIED}:${reason}`;
  await deps.ledger.append(facts.changeId, [{ kind: 'refused', at, factKey, body }]);
  return sealAndEnd(deps, facts, unsettled, why);
}

/** For an attempt that finds a seal, or nothing: uses the reason that an earlier attempt recorded, or else `otherwise`. */
export async function sealWithRecordedReason(
  deps: SealDeps,
  facts: ReceiptFacts,
  unsettled: Unsettled,
  otherwise: string,
): Promise<SettledOrUnknown> {
  const rows = await deps.ledger.readKinds(facts.changeId, ['refused']);
  const recorded = NotAppliedReason.safeParse(
    rows.findLast(({ row }) => row.body['check'] === NOTHING_APPLIED)?.row.body,
  );
  const why = recorded.success ? recorded.data : ({ reason: 'commit_failed', explanation: otherwise } as const);
  return sealAndEnd(deps, facts, unsettled, why);
}

async function sealAndEnd(
  deps: SealDeps,
  facts: ReceiptFacts,
  { effects, settings, approved, intentAt, whenUnchecked }: Unsettled,
  why: { readonly reason: RollbackReason; readonly explanation: string },
): Promise<SettledOrUnknown> {
  const { changeId, target } = facts;
  const found = await withHeartbeat((signal) =>
    effects.seal({
      ...targetContext(deps.targets, { target, role: 'commit', changeId, settings, signal }),
      approved,
      intentAt,
      sends: deps.sends(changeId),
    }),
  );
  switch (found.found) {
    case true:
      if (found.unchecked === true) return whenUnchecked(found.effect);
      return closeApplied(deps, facts, found);
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
