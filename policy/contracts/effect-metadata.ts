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
  /** Of `members`, those without which a dry run fails. By name, what is wrong with a value, which is null if it is missing. */
  readonly required?: Readonly<Record<string, (value: JsonValue) => string | null>>;
}

export const NO_EFFECT_METADATA: EffectMetadata = Object.freeze({ members: {}, refused: [] });

/** The first member that may not be submitted, with the reason; null if there is none. */
export function effectMetadataProblem(
  { members, refused }: Pick<EffectMetadata, 'members' | 'refused'>,
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

/** The first member without which a dry run fails, with the reason; null if there is none. */
export function requiredMetadataProblem(
  { required = {} }: EffectMetadata,
  metadata: Readonly<Record<string, JsonValue>>,
): { readonly field: string; readonly problem: string } | null {
  for (const [name, problemOf] of Object.entries(required)) {
    const problem = problemOf(metadata[name] ?? null);
    if (problem !== null) return { field: `metadata.${name}`, problem };
  }
  return null;
}
