import { ValidatorId, type HookClass } from '../contracts/finding';
import type { Level } from '../contracts/plan';
import { ALWAYS_APPROVE } from '../validators/always-approve';

/**
 * The level decides the class, and the class decides the id's prefix (DESIGN §4). From here on routing reads the class
 * only (G36): nothing may look at an id to learn it.
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

export function idOf(level: Level, name: string): string {
  return `${classOf(level) === 'SAFETY' ? 'safety' : 'guardian'}.${name}`;
}

/** Why `id` does not fit `hookClass`; null where it does (C22, T39). `always-approve` is no guardian, and asks nobody. */
export function prefixProblem(id: string, hookClass: HookClass): string | null {
  if (!ValidatorId.safeParse(id).success) return `"${id}": expected guardian.<rule> or safety.<rule> in snake_case`;
  const expected = id === ALWAYS_APPROVE || id.startsWith('safety.') ? 'SAFETY' : 'POLICY';
  return hookClass === expected ? null : `"${id}" is registered as ${hookClass}, and its prefix says ${expected}`;
}
