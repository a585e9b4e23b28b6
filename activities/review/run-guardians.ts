import { isStatic } from '../../policy/contracts/readings';
import type { ByteStore } from '../../policy/evidence/byte-store';
import type { Ledger } from '../../policy/evidence/ledger-port';
import { loadDiff } from './derivation';
import { readInput } from '../inputs';
import { untilStoreAnswers } from '../until-store-answers';
import { assertPlanOf, readOpenChange } from './opened-change';
import type { PlanSource } from '../../storage/plans/plan-source';
import type { ReviewActivities } from '../review-types';
import { toReported, type Reported } from '../../policy/decide/reported';
import { deriveResults, type DerivationDeps } from './derive';
import { findingRows } from './finding-rows';
import { readRecordedOpening } from './recorded-opening';

export interface GuardianDeps extends DerivationDeps {
  readonly store: ByteStore;
  readonly ledger: Ledger;
  readonly plans: PlanSource;
  readonly now: () => Date;
}

/**
 * Runs one unit of the plan: reads facts from the bytes, then runs each validator. Guardians get no client that can write. Findings
 * that already have a row are not written again.
 */
export function createGuardianActivities(deps: GuardianDeps): Pick<ReviewActivities, 'runGuardians'> {
  return {
    async runGuardians(input) {
      const { changeId, unit } = readInput('runGuardians', input);
      return untilStoreAnswers(() => runUnit(deps, changeId, unit));
    },
  };
}

async function runUnit(deps: GuardianDeps, changeId: string, unit: string): Promise<Reported> {
  const change = await readOpenChange(deps.ledger, changeId);
  const { plan } = await deps.plans.byHash(change.planHash);
  assertPlanOf(change, plan);
  const diff = await loadDiff(deps.store, deps.tools, change);
  const evaluation = { changeId, inputSha: change.inputSha, diff, staging: null };
  const results = await deriveResults(deps, plan, (v) => isStatic(v) && v.unit === unit, evaluation);
  const written = (await readRecordedOpening(deps.ledger, changeId))?.found;
  const missing = Object.fromEntries(Object.entries(results).filter(([id]) => written?.has(id) !== true));
  const at = deps.now().toISOString();
  await deps.ledger.append(changeId, findingRows(plan, changeId, `unit:${unit}`, missing, at));
  return toReported(plan, changeId, results);
}
