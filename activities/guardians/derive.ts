import type { Plan, PlanValidator } from '../../policy/contracts/plan';
import { evaluateValidator, resolveValidator, type EvaluationInput } from '../../policy/rules/evaluate';
import type { ValidatorRegistry } from '../../policy/rules/registry';
import { policyMoved } from '../failure';
import type { UnitResults } from '../review-types';

/** Preflight validators that read no staging record: they run before anything is executed anywhere. */
export function isStatic(validator: PlanValidator): boolean {
  return validator.kind === 'derived' && !validator.needsStaging && validator.phase === 'preflight';
}

/** Those that need the dry run, and post validators, which see its result first (records.md §5). */
export function isStaged(validator: PlanValidator): boolean {
  return validator.kind === 'derived' && !isStatic(validator);
}

/**
 * Raw results of the plan's derived validators that `which` picks, by id; those without an `evaluate` (the assembly
 * fills them in) are left out. The same call in review worker, committer and `replay`.
 * Throws `policy_moved`, not retried, where this process has other logic than the plan was made with (G33, T68).
 */
export function deriveResults(
  registry: ValidatorRegistry,
  plan: Plan,
  which: (v: PlanValidator) => boolean,
  input: EvaluationInput,
): UnitResults {
  const results: Record<string, unknown> = {};
  for (const validator of plan.validators) {
    if (validator.kind !== 'derived' || !which(validator)) continue;
    const resolved = resolveValidator(registry, validator);
    if (!resolved.ok) throw policyMoved(resolved.explanation);
    if (resolved.definition.evaluate === null) continue;
    results[validator.id] = evaluateValidator(resolved.definition, validator, input);
  }
  return results;
}
