import type { DiffInput } from '../../policy/contracts/diff';
import { Verdict } from '../../policy/contracts/verdict';
import { checkName } from '../../policy/validators/rule';
import { ValidatorError, type Validator, type ValidatorContext } from '../../policy/validators/validator';

/**
 * Selects the validator by `diff.sourceTool`, because the bytes have a different format for each source tool. An unlisted
 * source tool rejects with ErrUnknownDiffType and is never approved.
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
      const verdict = Verdict.safeParse(await validator.validate(context, diff));
      if (!verdict.success) throw invalidVerdict(name, policyVersion, diff.sourceTool);
      // Report our own name: a verdict sink knows this validator, not the one that it selected.
      return { ...verdict.data, validatorName: name };
    },
  });
}

function invalidVerdict(validatorName: string, policyVersion: string, sourceTool: string): ValidatorError {
  const message = `Validator "${validatorName}": the validator of "${sourceTool}" returned no valid verdict; expected {approved, score, reason, severity, details, validatorName, policyVersion}`;
  return new ValidatorError('ErrValidatorBackend', message, { validatorName, policyVersion });
}

/** No validator is configured for this source tool. Not retryable. */
function unknownDiffType(
  validatorName: string,
  policyVersion: string,
  sourceTool: string,
  known: readonly string[],
): ValidatorError {
  const expected = known.length === 0 ? 'it has no validators' : `expected one of: ${known.join(', ')}`;
  const message = `Validator "${validatorName}" does not support diffs of "${sourceTool}"; ${expected}`;
  return new ValidatorError('ErrUnknownDiffType', message, { validatorName, policyVersion });
}
