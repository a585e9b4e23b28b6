import type { DiffInput } from '../../policy/contracts/diff';
import type { Plan, PlanValidator } from '../../policy/contracts/plan';
import { isStatic } from '../../policy/contracts/readings';
import { resolveValidator } from '../../policy/rules/evaluate';
import type { Facts } from '../../policy/contracts/facts';
import { typedHash } from '../../policy/contracts/hash';
import { policyMoved } from '../../policy/contracts/failure';
import type { UnitResults } from '../review-types';
import { inlineDerivation, type Derivation, type DerivationParts, type DerivedChange } from './derivation';

/** Registries, and the threads that run the rules. Without threads (offline commands) rules run on the calling thread. */
export interface DerivationDeps extends DerivationParts {
  readonly threads?: Derivation | null;
}

function derivationOf(deps: DerivationDeps): Derivation {
  return deps.threads ?? inlineDerivation(deps);
}

/** The facts of a diff, for adapters, callbacks and limits. Retried with ErrValidatorBackend if a thread did not answer. */
export function readFacts(deps: DerivationDeps, diff: DiffInput): Promise<Facts> {
  return derivationOf(deps).facts(diff);
}

/** Digest of what a change does to a target, however it is written. Fails as `readFacts`. */
export async function factsShaOf(
  deps: DerivationDeps,
  { tenant, target }: { readonly tenant: string; readonly target: string },
  diff: DiffInput,
): Promise<string> {
  return typedHash('facts', { tenant, target, content: await derivationOf(deps).contentSha(diff) });
}

/** What the change does, in one line, before its dry run. Fails as `readFacts`. */
export function readTitle(deps: DerivationDeps, diff: DiffInput): Promise<string> {
  return derivationOf(deps).title(diff);
}

/** Derived validators that need the dry run. Post validators are among them: they run on the dry run before the commit. */
export function isStaged(validator: PlanValidator): boolean {
  return validator.kind === 'derived' && !isStatic(validator);
}

/**
 * The plan's derived validators that `which` selects, except those without an `evaluate`, which the assembly of findings
 * computes. Throws `policy_moved`, not retried, if this process has other logic than the plan was made with.
 */
export function selectValidators(
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
 * Raw results, by id, of the plan's derived validators that `which` selects. Review worker, committer and `replay` all use it.
 * Fails like `selectValidators`, and with ErrValidatorBackend, retried, if a thread did not answer.
 */
export async function deriveResults(
  deps: DerivationDeps,
  plan: Plan,
  which: (v: PlanValidator) => boolean,
  change: DerivedChange,
): Promise<UnitResults> {
  const selected = selectValidators(deps, plan, which);
  return selected.length === 0 ? {} : derivationOf(deps).results(selected, change);
}
