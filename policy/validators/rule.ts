import { Name, type DiffInput } from '../contracts/diff';
import type { Severity } from '../contracts/verdict';
import type { JsonObject } from '../contracts/canonical-json';
import type { Span } from '../contracts/facts';

/** A place that a rule reports: bytes of the diff, or a member of its metadata. */
export type RulePlace =
  { readonly kind: 'span'; readonly span: Span } | { readonly kind: 'metadata'; readonly pointer: string };

/** Result of one rule for one diff. `reason` is set if the rule does not approve; it never quotes the diff. */
export interface RuleResult {
  readonly approved: boolean;
  readonly reason: string;
  readonly severity: Severity;
  /** At most 50 places; `total` counts all of them. */
  readonly places?: readonly RulePlace[];
  readonly total?: number;
  readonly details?: JsonObject;
}

/** One pure check: no I/O, no state, no error return. `name` is the key of its result in `details`. */
export interface Rule {
  readonly name: string;
  readonly apply: (diff: DiffInput) => RuleResult;
}

export const APPROVED: RuleResult = Object.freeze({ approved: true, reason: '', severity: '' });

export const MAX_PLACES = 50;

/** Throws TypeError unless `name` has 1 to 63 characters of A-Z a-z 0-9 . _ -: it becomes a key, a metric label and part of a log line. */
export function checkName(what: string, name: unknown): string {
  const parsed = Name.safeParse(name);
  if (!parsed.success)
    throw new TypeError(
      `${what} name: expected 1 to 63 characters of A-Z a-z 0-9 . _ -, got ${JSON.stringify(name) ?? String(name)}`,
    );
  return parsed.data;
}

/**
 * The bytes of a diff. Throws TypeError without them, because a rule would find nothing to object to. Not `instanceof`: a Uint8Array may
 * be of another realm.
 */
export function bytesOf(what: string, diff: DiffInput): Uint8Array {
  const raw = (diff as Partial<DiffInput> | null | undefined)?.raw;
  if (ArrayBuffer.isView(raw) && raw[Symbol.toStringTag] === 'Uint8Array') return raw;
  throw new TypeError(`${what}, diff.raw: expected the bytes of the diff as a Uint8Array`);
}

/** Throws TypeError for a duplicate name: one result would hide the other in `details` and in the verdict sink. */
export function checkUnique(what: string, names: readonly string[]): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new TypeError(`${what} "${twice}" appears twice; give each its own name`);
}
