import type { PlanValidator } from '../../policy/contracts/plan';
import { isAggregate } from '../../policy/contracts/readings';
import type { AdvisoryLock } from '../../policy/evidence/ledger-port';
import { aggregateConfigOf } from './aggregates';

/** `agent` is left out: an unsigned change belongs to every agent, so changes of all agents share one lock. */
const DIMENSIONS = ['tenant', 'target', 'sourceTool'] as const;
type Dimension = (typeof DIMENSIONS)[number];

/** Each set of dimensions that a limit can count by. */
const SCOPES: readonly (readonly Dimension[])[] = DIMENSIONS.reduce<readonly (readonly Dimension[])[]>(
  (sets, dimension) => [...sets, ...sets.map((set) => [...set, dimension])],
  [[]],
);

/**
 * The locks of an opening: each scope that the change belongs to, exclusive if one of its own limits counts over that scope, else
 * shared. A change that counts another one has the exclusive lock of a scope of both, so the two openings are ordered, regardless
 * of the limits in the plan of the other one. Changes without such a scope, such as those of two tenants, do not wait for each other.
 */
export function openingLocks(
  validators: readonly PlanValidator[],
  change: Readonly<Record<Dimension, string>>,
): readonly AdvisoryLock[] {
  const counted = new Set(
    validators.filter(isAggregate).map((validator) => {
      const by = aggregateConfigOf(validator).by;
      return nameOf(
        DIMENSIONS.filter((dimension) => by.includes(dimension)),
        change,
      );
    }),
  );
  return SCOPES.map((scope) => {
    const name = nameOf(scope, change);
    return { name, mode: counted.has(name) ? 'exclusive' : 'shared' };
  });
}

/** Values of JSON, so that a value cannot look like the separator of two. */
function nameOf(scope: readonly Dimension[], change: Readonly<Record<Dimension, string>>): string {
  return `openings ${JSON.stringify(scope.map((dimension) => [dimension, change[dimension]]))}`;
}
