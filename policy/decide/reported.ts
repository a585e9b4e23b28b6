import type { ReviewPlan } from '../contracts/history-plan';
import type { ValidatorResult } from '../contracts/finding';
import { assembleAnswered, type RawOutcome } from './findings';

/** Results of validators as a history contains them: complete, except for ALLOW. The ledger has all of them completely. */
export interface Reported {
  /** Validators with the status ALLOW, by their position in the plan, which has their ids. */
  readonly allowed: readonly number[];
  /** All other results, by validator id, as the validators gave them. */
  readonly results: Readonly<Record<string, unknown>>;
}

export function toReported(plan: ReviewPlan, changeId: string, results: Readonly<Record<string, unknown>>): Reported {
  const outcomes = new Map(
    Object.entries(results).map(([id, result]): [string, RawOutcome] => [id, { kind: 'result', result }]),
  );
  // The assembly decides: a result that breaks the contract does not count as ALLOW.
  const passed = new Set(
    assembleAnswered({ plan, changeId, outcomes }).flatMap((f) => (f.status === 'ALLOW' ? [f.validator_id] : [])),
  );
  const ids = plan.validators.map(({ id }) => id);
  const others = ids.filter((id) => Object.hasOwn(results, id) && !passed.has(id));
  return {
    allowed: ids.flatMap((id, place) => (Object.hasOwn(results, id) && passed.has(id) ? [place] : [])),
    results: Object.fromEntries(others.map((id) => [id, results[id]])),
  };
}

/** The results by validator id. Ignores positions that the plan does not have. */
export function fromReported(plan: ReviewPlan, { allowed, results }: Reported): Readonly<Record<string, unknown>> {
  const ids = allowed.flatMap((place) => plan.validators[place]?.id ?? []);
  return { ...Object.fromEntries(ids.map((id) => [id, allow(id)])), ...results };
}

function allow(id: string): ValidatorResult {
  return { validator_id: id, status: 'ALLOW', reason: '', evidenceRefs: [] };
}
