import type { DiffInput } from '../contracts/diff';
import type { ErrorClass } from '../contracts/finding';
import { Verdict } from '../contracts/verdict';
import { checkName, checkUnique } from './rule';
import { worst } from './rule-validator';
import { ValidatorError, type Validator, type ValidatorContext } from './validator';

/** Two modes, no more (F41): weighted votes and trees of AND and OR are out of scope. The first is the default. */
export const CompositionMode = ['allMustApprove', 'waterfall'] as const;
export type CompositionMode = (typeof CompositionMode)[number];

/** What one child gave: its verdict, or the error and the block verdict that comes with it. */
export interface ChildOutcome {
  readonly name: string;
  readonly verdict: Verdict;
  readonly error: unknown;
}

/**
 * Stacks validators (F63), composites included (F47); its version is its own (F40).
 * `allMustApprove` runs every child, whatever the others said (F42); `waterfall` stops at the first reject or error
 * (F44), so put the cheap ones first. Approved only if all that ran approve; worst severity, lowest score; no children:
 * approved, 1 (F45). Child errors are joined into one ValidatorError, each class still detectable (F43).
 * An unknown mode is a block verdict and an error (F46): it comes from configuration, so it must not throw earlier.
 * Throws TypeError where two children share a name.
 */
export function compositeValidator(
  name: string,
  policyVersion: string,
  mode: CompositionMode | undefined,
  ...children: readonly Validator[]
): Validator {
  checkName('CompositeValidator', name);
  const own = [...children];
  checkUnique(
    `Child of composite "${name}",`,
    own.map((child) => checkName(`Child of composite "${name}",`, child.name())),
  );
  return Object.freeze({
    name: () => name,
    validate: async (context: ValidatorContext, diff: DiffInput) => {
      const outcomes: ChildOutcome[] = [];
      for (const child of knownMode(name, policyVersion, mode) === undefined ? [] : own) {
        const outcome = await runChild(child, context, diff);
        outcomes.push(outcome);
        if (stopsAfter(mode, outcome)) break;
      }
      return combine(name, policyVersion, outcomes);
    },
  });
}

/** The mode, or a thrown ValidatorError where it is neither of the two. Absent: `allMustApprove`. */
export function knownMode(name: string, policyVersion: string, mode: string | undefined): CompositionMode {
  if (mode === undefined) return 'allMustApprove';
  const known = CompositionMode.find((m) => m === mode);
  if (known !== undefined) return known;
  throw new ValidatorError(
    'ErrValidatorBackend',
    `Composite "${name}": unknown mode ${JSON.stringify(mode)}; expected ${CompositionMode.join(' or ')}`,
    { validatorName: name, policyVersion },
  );
}

export function stopsAfter(mode: string | undefined, outcome: ChildOutcome): boolean {
  return mode === 'waterfall' && (outcome.error !== null || !outcome.verdict.approved);
}

async function runChild(child: Validator, context: ValidatorContext, diff: DiffInput): Promise<ChildOutcome> {
  const name = child.name();
  try {
    return { name, verdict: Verdict.parse(await child.validate(context, diff)), error: null };
  } catch (error) {
    // The caller's own cancellation is no verdict on the diff, and goes up unchanged (F53).
    if (context.signal?.aborted === true) throw error;
    return failedChild(name, error);
  }
}

export function failedChild(name: string, error: unknown): ChildOutcome {
  if (error instanceof ValidatorError) return { name, verdict: error.verdict, error };
  const reason = error instanceof Error ? error.message : String(error);
  return {
    name,
    verdict: new ValidatorError('ErrValidatorBackend', reason, { validatorName: name, policyVersion: '' }).verdict,
    error: error ?? new Error(reason),
  };
}

/** The verdict over those that ran. Throws a ValidatorError with the same breakdown where one of them could not answer. */
export function combine(name: string, policyVersion: string, outcomes: readonly ChildOutcome[]): Verdict {
  const rejected = outcomes.filter((o) => !o.verdict.approved);
  const verdict: Verdict = {
    approved: rejected.length === 0,
    // Not Math.min of nothing, which is Infinity (T2).
    score: outcomes.reduce((lowest, o) => Math.min(lowest, o.verdict.score), 1),
    reason: rejected.map((o) => `${o.name}: ${o.verdict.reason}`).join('; '),
    severity: worstOf(outcomes),
    details: Object.fromEntries(outcomes.map((o) => [o.name, breakdown(o)])),
    validatorName: name,
    policyVersion,
  };
  const errors = outcomes.flatMap((o) => (o.error === null ? [] : [o.error]));
  if (errors.length === 0) return verdict;
  const cause =
    errors.length === 1
      ? errors[0]
      : new AggregateError(errors, `${errors.length} children of "${name}" could not answer`);
  throw new ValidatorError(codeOf(errors), verdict.reason, {
    validatorName: name,
    policyVersion,
    details: verdict.details,
    cause,
  });
}

function worstOf(outcomes: readonly ChildOutcome[]): Verdict['severity'] {
  // A rejecting child with an empty severity reads as warn; an approving one keeps what it says (C3).
  return worst(
    outcomes.flatMap(({ verdict }) => (verdict.approved && verdict.severity === '' ? [] : [verdict.severity])),
  );
}

function codeOf(errors: readonly unknown[]): ErrorClass {
  const coded = errors.find((error): error is ValidatorError => error instanceof ValidatorError);
  return coded?.code ?? 'ErrValidatorBackend';
}

function breakdown({ verdict, error }: ChildOutcome): Verdict['details'] {
  const { approved, score, reason, severity, policyVersion, details } = verdict;
  const failed =
    error instanceof ValidatorError ? { error: error.code } : error === null ? {} : { error: 'ErrValidatorBackend' };
  return { approved, score, reason, severity, policyVersion, details, ...failed };
}
