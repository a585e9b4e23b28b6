import { Name, type DiffInput } from '../contracts/diff';
import type { Severity } from '../contracts/verdict';
import type { Details, Span } from '../contracts/facts';

/** A place that a rule points at: bytes of the diff, or a member of its metadata. */
export type RulePlace =
  { readonly kind: 'span'; readonly span: Span } | { readonly kind: 'metadata'; readonly pointer: string };

/** What one rule says of one diff (F26). `reason` is filled where it does not approve; it never quotes the diff. */
export interface RuleResult {
  readonly approved: boolean;
  readonly reason: string;
  readonly severity: Severity;
  /** Where: at most 50; `total` counts them all. */
  readonly places?: readonly RulePlace[];
  readonly total?: number;
  readonly details?: Details;
}

/** One pure check: no I/O, no state, no error return (F24). `name` is the key of its result in `details` (F16). */
export interface Rule {
  readonly name: string;
  readonly apply: (diff: DiffInput) => RuleResult;
}

export const APPROVED: RuleResult = Object.freeze({ approved: true, reason: '', severity: '' });

export const MAX_PLACES = 50;

/** Throws unless `name` is 1 to 63 of A-Z a-z 0-9 . _ -: it becomes a key, a metric label and part of a log line. */
export function checkName(what: string, name: unknown): string {
  const parsed = Name.safeParse(name);
  if (!parsed.success)
    throw new TypeError(
      `${what} name: expected 1 to 63 of A-Z a-z 0-9 . _ -, got ${JSON.stringify(name) ?? String(name)}`,
    );
  return parsed.data;
}

/** Throws where two share a name: one would hide the other in `details` and in the sink (F2, F25). */
export function checkUnique(what: string, names: readonly string[]): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new TypeError(`${what} "${twice}" appears twice; give each its own name`);
}
