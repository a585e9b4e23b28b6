import type { DiffInput } from '../../policy/contracts/diff';
import { Verdict, verdictStatus } from '../../policy/contracts/verdict';
import { breakerSample } from '../../policy/contracts/readings';
import { ALWAYS_APPROVE } from '../../policy/validators/always-approve';
import {
  ValidatorError,
  type Validator,
  type ValidatorContext,
  type VerdictSink,
} from '../../policy/validators/validator';

/** A tool's verdict and what follows from it: an error of any kind is a rollback (F3). */
export interface GateDecision {
  readonly action: 'commit' | 'rollback';
  readonly verdict: Verdict;
  /** Null where the validator answered. */
  readonly error: unknown;
}

export interface ValidatedTool<Tool> {
  readonly tool: Tool;
  readonly validator: Validator;
  readonly gate: (context: ValidatorContext, diff: DiffInput) => Promise<GateDecision>;
}

/**
 * Binds a validator to a tool. Throws where there is none: to go without validation is a decision, and `alwaysApprove()`
 * is how it is written down (F38, T19). `gate` tells what the verdict means without a human, by severity alone (F18);
 * a review of the tool's changes is what `guard()` of the client gives.
 * Rejects only with the caller's own cancellation.
 */
export function newValidatedTool<Tool>(
  tool: Tool,
  validator: Validator | null | undefined,
  sink?: VerdictSink,
): ValidatedTool<Tool> {
  if (tool === undefined || tool === null) throw new TypeError('newValidatedTool, tool: expected a tool, got nothing');
  if (typeof validator?.validate !== 'function' || typeof validator.name !== 'function') {
    throw new TypeError(
      `newValidatedTool, validator: expected a Validator, got ${validator === null ? 'null' : typeof validator}; to opt out of validation, pass alwaysApprove(), which shows as "${ALWAYS_APPROVE}"`,
    );
  }
  return Object.freeze({
    tool,
    validator,
    gate: (context: ValidatorContext, diff: DiffInput) => gate(validator, context, diff, sink),
  });
}

async function gate(
  validator: Validator,
  context: ValidatorContext,
  diff: DiffInput,
  sink: VerdictSink | undefined,
): Promise<GateDecision> {
  const name = validator.name();
  try {
    const verdict = Verdict.parse(await validator.validate(context, diff));
    const status = verdictStatus(verdict);
    sink?.record(name, breakerSample(status), verdict.score);
    return { action: status === 'BLOCK' ? 'rollback' : 'commit', verdict, error: null };
  } catch (error) {
    if (context.signal?.aborted === true) throw error;
    sink?.record(name, 'failure', 0);
    const own =
      error instanceof ValidatorError
        ? error.verdict
        : new ValidatorError('ErrValidatorBackend', error instanceof Error ? error.message : String(error), {
            validatorName: name,
            policyVersion: '',
          }).verdict;
    return { action: 'rollback', verdict: own, error };
  }
}
