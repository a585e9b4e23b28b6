import type { DiffInput } from '../../policy/contracts/diff';
import { checkName } from '../../policy/validators/rule';
import { ValidatorError, type Validator, type ValidatorContext } from '../../policy/validators/validator';

/**
 * One validator per source tool, since the bytes mean something else for each (F9). A source tool that is not listed is
 * ErrUnknownDiffType, never an approval (F10, F22, T14).
 */
export function dispatchValidator(
  name: string,
  policyVersion: string,
  bySourceTool: Readonly<Record<string, Validator>>,
): Validator {
  checkName('DispatchValidator', name);
  const validators = new Map(Object.entries(bySourceTool));
  return Object.freeze({
    name: () => name,
    validate: async (context: ValidatorContext, diff: DiffInput) => {
      const validator = validators.get(diff.sourceTool);
      if (validator === undefined) throw unknownDiffType(name, policyVersion, diff.sourceTool, [...validators.keys()]);
      // Stamped with our name: a sink must find the validator that it was told about (F2).
      return { ...(await validator.validate(context, diff)), validatorName: name };
    },
  });
}

/** Nothing here reads this source tool's diffs. Retrying cannot help. */
export function unknownDiffType(
  validatorName: string,
  policyVersion: string,
  sourceTool: string,
  known: readonly string[],
): ValidatorError {
  const message = `No validator of "${validatorName}" reads diffs of "${sourceTool}"; it reads ${known.length === 0 ? 'none' : known.join(', ')}`;
  return new ValidatorError('ErrUnknownDiffType', message, { validatorName, policyVersion });
}
