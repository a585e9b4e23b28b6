import type { DiffInput } from '../../policy/contracts/diff';
import { Verdict } from '../../policy/contracts/verdict';
import {
  combine,
  failedChild,
  knownMode,
  stopsAfter,
  type ChildOutcome,
  type CompositionMode,
} from '../../policy/validators/combine-verdicts';
import { checkName, checkUnique } from '../../policy/validators/rule';
import type { Validator, ValidatorContext } from '../../policy/validators/validator';

/**
 * Runs several validators as one; a child may be a composite. `policyVersion` is the composite's, not the children's.
 * `allMustApprove` runs every child. `waterfall` stops at the first reject or error, so put cheap validators first.
 * See `combine` for the verdict. An unknown mode rejects with a ValidatorError when `validate` runs, not at construction,
 * because the mode comes from configuration. Throws TypeError for a child that is not a validator, and if two have the same name.
 */
export function compositeValidator(
  name: string,
  policyVersion: string,
  mode: CompositionMode | undefined,
  ...children: readonly Validator[]
): Validator {
  checkName('CompositeValidator', name);
  for (const child of children as readonly (Partial<Validator> | null | undefined)[])
    if (typeof child?.validate !== 'function' || typeof child.name !== 'function')
      throw new TypeError(
        `Child of composite "${name}": expected a Validator, got ${child === null ? 'null' : typeof child}`,
      );
  checkUnique(
    `Child of composite "${name}",`,
    children.map((child) => checkName(`Child of composite "${name}",`, child.name())),
  );
  return Object.freeze({
    name: () => name,
    validate: async (context: ValidatorContext, diff: DiffInput) => {
      const known = knownMode(name, policyVersion, mode);
      const outcomes: ChildOutcome[] = [];
      for (const child of children) {
        const outcome = await runChild(child, context, diff);
        outcomes.push(outcome);
        if (stopsAfter(known, outcome)) break;
      }
      return combine(name, policyVersion, outcomes);
    },
  });
}

async function runChild(child: Validator, context: ValidatorContext, diff: DiffInput): Promise<ChildOutcome> {
  const name = child.name();
  try {
    return { name, verdict: Verdict.parse(await child.validate(context, diff)), error: null };
  } catch (error) {
    // The caller's own cancellation says nothing about the diff: rethrow it unchanged.
    if (context?.signal?.aborted === true) throw error;
    return failedChild(name, error);
  }
}
