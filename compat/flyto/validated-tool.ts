import type { DiffInput } from '../../policy/contracts/diff';
import { Verdict, verdictStatus } from '../../policy/contracts/verdict';
import { breakerSample, type BreakerSample } from '../../policy/contracts/readings';
import { ALWAYS_APPROVE, alwaysApproveVerdict } from '../../policy/validators/always-approve';
import { bytesOf } from '../../policy/validators/rule';
import { failedChild } from '../../policy/validators/combine-verdicts';
import type { Validator, ValidatorContext } from '../../policy/validators/validator';

/** Receives every verdict and every error, keyed by the validator's name. */
export interface VerdictSink {
  readonly record: (validatorName: string, sample: BreakerSample, score: number) => void;
}

/** A verdict and the resulting action. Any error means `rollback`. */
export interface GateDecision {
  readonly action: 'commit' | 'rollback';
  readonly verdict: Verdict;
  /** Null if the validator answered. */
  readonly error: unknown;
}

export interface ValidatedTool<Tool> {
  readonly tool: Tool;
  readonly validator: Validator;
  readonly gate: (context: ValidatorContext, diff: DiffInput) => Promise<GateDecision>;
}

/**
 * Binds a validator to a tool. Throws TypeError without a validator: to run without validation, pass `alwaysApprove()`.
 * `gate` maps the verdict's severity to commit or rollback and never asks a person; for a human review use `guard()` of
 * `@countersign/client`. `gate` rejects only with the caller's own cancellation. A sink that throws is an error like any other, so
 * it means `rollback`.
 */
export function newValidatedTool<Tool>(
  tool: Tool,
  validator: Validator | null | undefined,
  sink?: VerdictSink,
): ValidatedTool<Tool> {
  if (tool === undefined || tool === null)
    throw new TypeError(`newValidatedTool, tool: expected a tool, got ${String(tool)}`);
  if (typeof validator?.validate !== 'function' || typeof validator.name !== 'function') {
    throw new TypeError(
      `newValidatedTool, validator: expected a Validator, got ${validator === null ? 'null' : typeof validator}; to opt out of validation, pass alwaysApprove(), which is reported as "${ALWAYS_APPROVE}"`,
    );
  }
  const name = validator.name();
  return Object.freeze({
    tool,
    validator,
    gate: (context: ValidatorContext, diff: DiffInput) => gate(validator, name, context, diff, sink),
  });
}

async function gate(
  validator: Validator,
  name: string,
  context: ValidatorContext,
  diff: DiffInput,
  sink: VerdictSink | undefined,
): Promise<GateDecision> {
  try {
    bytesOf('gate', diff);
    const verdict = Verdict.parse(await validator.validate(context, diff));
    const status = verdictStatus(verdict);
    sink?.record(name, breakerSample(status), verdict.score);
    return { action: status === 'BLOCK' ? 'rollback' : 'commit', verdict, error: null };
  } catch (error) {
    if (context?.signal?.aborted === true) throw error;
    return { action: 'rollback', verdict: failedChild(name, error).verdict, error: recordFailure(name, sink, error) };
  }
}

/** The error of the gate: `error`, and that of a sink which cannot record the failure. */
function recordFailure(name: string, sink: VerdictSink | undefined, error: unknown): unknown {
  try {
    sink?.record(name, 'failure', 0);
    return error;
  } catch (sinkError) {
    return new AggregateError([error, sinkError], 'The verdict sink could not record a failure');
  }
}

/** The explicit opt-out: approves every diff without reading it. Its name and reason say so; `why` is appended to the reason. */
export function alwaysApprove(why = ''): Validator {
  return Object.freeze({ name: () => ALWAYS_APPROVE, validate: () => Promise.resolve(alwaysApproveVerdict(why)) });
}
