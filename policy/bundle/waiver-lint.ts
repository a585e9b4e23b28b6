import type { Plan } from '../contracts/plan';
import { problem, toIssues, type Issue, type Locate } from './issue';
import type { Bundle, BundleWaiver } from './schema';

/** Waivers that have expired at `at` (ISO 8601, UTC). */
export function expiredWaivers(bundle: Bundle, at: string, locate: Locate): Issue[] {
  const expired = bundle.waivers.flatMap((waiver, i) =>
    Date.parse(at) < Date.parse(waiver.expires)
      ? []
      : [
          problem(
            ['waivers', i, 'expires'],
            `Waiver "${waiver.id}" expired at ${waiver.expires}`,
            'Remove the waiver, or give it a new reason and date.',
          ),
        ],
  );
  return toIssues(expired, locate);
}

/** Waivers that no change can use: they have no effect, but a reader of the bundle expects one. `plans`: all of the bundle. */
export function unusedWaivers(bundle: Bundle, plans: readonly Plan[], locate: Locate): Issue[] {
  const used = new Set(plans.flatMap((plan) => plan.waivers.map(({ id }) => id)));
  const unused = bundle.waivers.flatMap((waiver, i) => {
    const path = ['waivers', i, 'id'];
    if (!used.has(waiver.id))
      return [
        problem(
          path,
          `Waiver "${waiver.id}" is never used: ${waiver.validatorId} does not run for its targets and source tools`,
          'Remove it, or correct its scope.',
        ),
      ];
    const first = bundle.waivers.slice(0, i).find((earlier) => covers(earlier, waiver));
    if (first === undefined) return [];
    return [problem(path, `Waiver "${waiver.id}" is never used: "${first.id}" covers it`, 'Remove one of the two.')];
  });
  return toIssues(unused, locate);
}

/** Whether `wide` waives whatever `narrow` does, at least as long. */
function covers(wide: BundleWaiver, narrow: BundleWaiver): boolean {
  if (wide.validatorId !== narrow.validatorId || Date.parse(wide.expires) < Date.parse(narrow.expires)) return false;
  return Object.entries(wide.scope).every(([limit, allowed]) => {
    const own = narrow.scope[limit as keyof BundleWaiver['scope']];
    return own !== undefined && own.every((value) => (allowed as readonly string[]).includes(value));
  });
}
