import type { DiffInput } from '../../policy/contracts/diff';
import type { Plan, PlanValidator } from '../../policy/contracts/plan';
import { resolveValidator } from '../../policy/rules/evaluate';
import type { Facts } from '../../policy/contracts/facts';
import { policyMoved } from '../../policy/contracts/failure';
import type { UnitResults } from '../review-types';
import { derivationHere, factsHere, type Derivation, type DerivationParts, type DerivedChange } from './derivation';

/** What derives findings: registries, and threads to do it in. Without threads it is done in place, as offline commands do. */
export interface DerivationDeps extends DerivationParts {
  readonly threads?: Derivation | null;
}

/** The facts of a diff, for who is no validator: an adapter, a callback. */
export async function readFacts(deps: Pick<DerivationDeps, 'tools' | 'threads'>, diff: DiffInput): Promise<Facts> {
  return deps.threads == null ? factsHere(deps.tools, diff) : deps.threads.facts(diff);
}

/** Preflight validators that read no staging record: they run before anything is executed anywhere. */
export function isStatic(validator: PlanValidator): boolean {
  return validator.kind === 'derived' && !validator.needsStaging && validator.phase === 'preflight';
}

/** Those that need the dry run, and post validators, which see its result first (records.md §5). */
export function isStaged(validator: PlanValidator): boolean {
  return validator.kind === 'derived' && !isStatic(validator);
}

/**
 * The plan's derived validators that `which` picks; those without an `evaluate` (the assembly fills them in) are left out.
 * Throws `policy_moved`, not retried, where this process has other logic than the plan was made with (G33, T68).
 */
export function chosenOf(
  { tools, validators }: DerivationParts,
  plan: Plan,
  which: (v: PlanValidator) => boolean,
): readonly PlanValidator[] {
  const tool = tools.get(plan.sourceTool);
  return plan.validators.filter((validator) => {
    if (validator.kind !== 'derived' || !which(validator)) return false;
    const resolved = resolveValidator(validators, validator, tool);
    if (!resolved.ok) throw policyMoved(resolved.explanation);
    return resolved.definition.evaluate !== null;
  });
}

/**
 * Raw results of the plan's derived validators that `which` picks, by id. The same call in review worker, committer and `replay`.
 * Fails as `chosenOf`, and with ErrValidatorBackend, retried, where a thread did not answer.
 */
export async function deriveResults(
  deps: DerivationDeps,
  plan: Plan,
  which: (v: PlanValidator) => boolean,
  change: DerivedChange,
): Promise<UnitResults> {
  const chosen = chosenOf(deps, plan, which);
  return chosen.length === 0 ? {} : (deps.threads ?? derivationHere(deps)).results(chosen, change);
}
