import { toWellFormed } from '../../policy/contracts/canonical-json';
import type { TargetFreeze } from '../../policy/evidence/predicates';
import { targetUnavailable } from '../../source-tools/target-failure';
import type { CommitDeps } from './commit-deps';

/**
 * Runs before the intent of each attempt. Throws TARGET_UNAVAILABLE, retried until the plan's commit window ends, and records
 * the refusal: if the freeze is lifted in time, no answer is lost; otherwise the review rolls back.
 */
export async function assertNotFrozen(deps: CommitDeps, changeId: string, target: string): Promise<void> {
  const freeze = await deps.freezes.current(target);
  if (freeze === null) return;
  const explanation = freezeText(freeze);
  await deps.ledger.append(changeId, [
    {
      kind: 'refused',
      at: deps.now().toISOString(),
      factKey: `refused:target_frozen:${freeze === 'unknown' ? freeze : freeze.n}`,
      body: { check: 'target_frozen', explanation },
    },
  ]);
  throw targetUnavailable(target, explanation);
}

export function freezeText(freeze: TargetFreeze | 'unknown'): string {
  if (freeze === 'unknown')
    return 'it is unknown whether it is frozen, because its latest freezes lack the signature of a trusted operator: freeze or unfreeze it again';
  return `it is frozen since ${freeze.at}: ${toWellFormed(freeze.reason)}`;
}
