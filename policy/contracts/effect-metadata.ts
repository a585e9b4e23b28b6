import type { JsonValue } from './canonical-json';

/**
 * The metadata of a source tool that becomes part of the effect, such as a commit message. An allowlist: an adapter uses no other
 * member. People and judge see these members.
 */
export interface EffectMetadata {
  /** By name, what is wrong with a value; null if nothing is. */
  readonly members: Readonly<Record<string, (value: JsonValue) => string | null>>;
  /** Names that look as if they had an effect, but have none: refused, so that no one relies on them. */
  readonly refused: readonly string[];
  /** Those of `members` without which a dry run fails. */
  readonly required?: readonly string[];
}

export const NO_EFFECT_METADATA: EffectMetadata = Object.freeze({ members: {}, refused: [] });

/** The first member that may not be submitted, with the reason; null if there is none. */
export function effectMetadataProblem(
  { members, refused }: EffectMetadata,
  metadata: Readonly<Record<string, JsonValue>>,
): { readonly field: string; readonly problem: string } | null {
  const ignored = refused.find((name) => Object.hasOwn(metadata, name));
  if (ignored !== undefined)
    return { field: `metadata.${ignored}`, problem: 'it has no effect for this source tool; leave it out' };
  for (const [name, problemOf] of Object.entries(members)) {
    const value = metadata[name];
    const problem = value === undefined || value === null ? null : problemOf(value);
    if (problem !== null) return { field: `metadata.${name}`, problem };
  }
  return null;
}

/** The first missing member that the dry run needs, with what is expected; null if all are there. */
export function missingMetadata(
  { members, required = [] }: EffectMetadata,
  metadata: Readonly<Record<string, JsonValue>>,
): { readonly field: string; readonly problem: string } | null {
  const missing = required.find((name) => (metadata[name] ?? null) === null);
  return missing === undefined
    ? null
    : { field: `metadata.${missing}`, problem: members[missing]?.(null) ?? 'expected a value' };
}
