import fc from 'fast-check';
import { openingLocks } from '../../../activities/review/opening-locks';
import type { PlanValidator } from '../../../policy/contracts/plan';

type Change = Record<'tenant' | 'target' | 'sourceTool' | 'agent', string>;
type By = (keyof Change)[];

const limit = (by: By): PlanValidator =>
  ({
    id: 'split',
    implementation: 'aggregate',
    kind: 'attested',
    config: { name: 'split', window: '1h', by, limits: { changes: 3 } },
  }) as unknown as PlanValidator;

const change = (more: Partial<Change> = {}): Change => ({
  tenant: 'acme',
  target: 'shop',
  sourceTool: 'SQLDryRun',
  agent: 'ada',
  ...more,
});

/** Whether one of two openings waits until the other has ended. */
function areOrdered(a: ReturnType<typeof openingLocks>, b: ReturnType<typeof openingLocks>): boolean {
  return a.some((x) => b.some((y) => x.name === y.name && (x.mode === 'exclusive' || y.mode === 'exclusive')));
}

const someChange = fc.record({
  tenant: fc.constantFrom('acme', 'other'),
  target: fc.constantFrom('shop', 'bank'),
  sourceTool: fc.constantFrom('SQLDryRun', 'SQLCAS'),
  agent: fc.constantFrom('ada', 'eve', 'unknown'),
});
const someBy = fc.subarray<keyof Change>(['tenant', 'target', 'sourceTool', 'agent'], { minLength: 1 });
const somePlan = fc.array(someBy, { minLength: 1, maxLength: 3 });

test('two openings are ordered if a limit of either can count the other change', () => {
  fc.assert(
    fc.property(someChange, somePlan, someChange, somePlan, (a, plansOfA, b, plansOfB) => {
      const counts = ([one, bys]: [Change, By[]], other: Change): boolean =>
        bys.some((by) =>
          by.every((d) => one[d] === other[d] || (d === 'agent' && [one, other].some((c) => c.agent === 'unknown'))),
        );
      const related = counts([a, plansOfA], b) || counts([b, plansOfB], a);
      const ordered = areOrdered(openingLocks(plansOfA.map(limit), a), openingLocks(plansOfB.map(limit), b));
      return ordered || !related;
    }),
    { numRuns: 2_000 },
  );
});

test('openings of two tenants do not wait for each other if every limit counts by tenant', () => {
  const limits = [limit(['tenant', 'agent', 'target', 'sourceTool']), limit(['tenant'])];
  expect(areOrdered(openingLocks(limits, change()), openingLocks(limits, change({ tenant: 'other' })))).toBe(false);
});

test('openings on two targets do not wait for each other under limits of one target', () => {
  const limits = [limit(['tenant', 'agent', 'target', 'sourceTool'])];
  expect(areOrdered(openingLocks(limits, change()), openingLocks(limits, change({ target: 'bank' })))).toBe(false);
});

test('a limit over all tenants orders the openings of all of them', () => {
  const [over, own] = [[limit(['agent'])], [limit(['tenant'])]];
  expect(areOrdered(openingLocks(over, change()), openingLocks(own, change({ tenant: 'other' })))).toBe(true);
});

test('the names of two scopes differ, whatever text their values contain', () => {
  const names = openingLocks([], change({ tenant: 'a","target' })).map(({ name }) => name);
  expect(new Set(names).size).toBe(8);
});
