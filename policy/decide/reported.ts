import type { ReviewPlan } from '../contracts/history-plan';
import type { ValidatorResult } from '../contracts/finding';
import { assembleAnswered, type RawOutcome } from './findings';

/** Results of validators as a history contains them: complete, except that ALLOW is only an id. The ledger has a row for each. */
export interface Reported {
  /** Validators with the status ALLOW. Their hashes are in the plan. */
  readonly allowed: readonly string[];
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
  const ids = plan.validators.map(({ id }) => id).filter((id) => Object.hasOwn(results, id));
  return {
    allowed: ids.filter((id) => passed.has(id)),
    results: Object.fromEntries(ids.filter((id) => !passed.has(id)).map((id) => [id, results[id]])),
  };
}

/** The results by validator id. */
export function fromReported({ allowed, results }: Reported): Readonly<Record<string, unknown>> {
  return { ...Object.fromEntries(allowed.map((id) => [id, allow(id)])), ...results };
}

function allow(id: string): ValidatorResult {
  return { validator_id: id, status: 'ALLOW', reason: '', evidenceRefs: [] };
}
