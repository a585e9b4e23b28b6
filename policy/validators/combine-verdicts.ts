import type { ErrorClass } from '../contracts/finding';
import type { Verdict } from '../contracts/verdict';
import { errorMessage } from '../contracts/error-message';
import { worst } from './rule-validator';
import { ValidatorError } from './validator';

/** The composition modes; the first is the default. Weighted votes and AND/OR trees are not supported. */
export const CompositionMode = ['allMustApprove', 'waterfall'] as const;
export type CompositionMode = (typeof CompositionMode)[number];

/** Result of one child. `error` is null if the child answered; otherwise `verdict` is the block verdict for that error. */
export interface ChildOutcome {
  readonly name: string;
  readonly verdict: Verdict;
  readonly error: unknown;
}

/** Resolves a mode from configuration; undefined means `allMustApprove`. Throws ValidatorError for an unknown mode. */
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

/** True if a waterfall does not run the children after this one. */
export function stopsAfter(mode: string | undefined, outcome: ChildOutcome): boolean {
  return mode === 'waterfall' && (outcome.error !== null || !outcome.verdict.approved);
}

/** The outcome of a child that threw `error`. */
export function failedChild(name: string, error: unknown): ChildOutcome {
  if (error instanceof ValidatorError) return { name, verdict: error.verdict, error };
  const reason = errorMessage(error);
  return {
    name,
    verdict: new ValidatorError('ErrValidatorBackend', reason, { validatorName: name, policyVersion: '' }).verdict,
    error: error ?? new Error(reason),
  };
}

/**
 * Combines the outcomes of the children that ran: approved only if all approve, worst severity, lowest score. Without
 * outcomes: approved with score 1. Throws a ValidatorError with the same breakdown if a child failed; the errors of
 * several children are joined in an AggregateError, so that each class can still be detected.
 */
export function combine(name: string, policyVersion: string, outcomes: readonly ChildOutcome[]): Verdict {
  const rejected = outcomes.filter((o) => !o.verdict.approved);
  const verdict: Verdict = {
    approved: rejected.length === 0,
    // Start from 1: Math.min() of no arguments is Infinity.
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
  // An empty severity counts as warn for a child that rejects, and is ignored for a child that approves.
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
