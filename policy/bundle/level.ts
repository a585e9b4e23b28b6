import { ValidatorId, type HookClass } from '../contracts/finding';
import type { Level } from '../contracts/plan';
import { ALWAYS_APPROVE } from '../validators/always-approve';

/**
 * The level determines the class, and the class determines the prefix of the id. Routing must read the class only, never
 * the prefix of an id.
 */
export function classOf(level: Level): HookClass {
  switch (level) {
    case 'forbid':
    case 'advise':
      return 'SAFETY';
    case 'confirm':
    case 'shadow':
      return 'POLICY';
    default:
      return level satisfies never;
  }
}

/** The validator id of a name: `safety.<name>` or `guardian.<name>`, by the class of its level. */
export function idOf(level: Level, name: string): string {
  return `${classOf(level) === 'SAFETY' ? 'safety' : 'guardian'}.${name}`;
}

/** Why the prefix of `id` does not match `hookClass`; null if it does. `always-approve` has no prefix and is SAFETY. */
export function prefixProblem(id: string, hookClass: HookClass): string | null {
  if (!ValidatorId.safeParse(id).success) return `"${id}": expected guardian.<rule> or safety.<rule> in snake_case`;
  const expected = id === ALWAYS_APPROVE || id.startsWith('safety.') ? 'SAFETY' : 'POLICY';
  return hookClass === expected ? null : `"${id}" has class ${hookClass}, but its prefix requires ${expected}`;
}
