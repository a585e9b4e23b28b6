import fc from 'fast-check';
import {
  sumChanges,
  AggregateRecord,
  aggregateResult,
  countsAll,
  type SummedChange,
} from '../../../../policy/rules/aggregate/aggregate';
import { AggregateConfig, MAX_COUNTED } from '../../../../policy/rules/aggregate/config';
import { MAX_PLACES, type Measure } from '../../../../policy/rules/aggregate/measure';
import type { MeasuredChange } from '../../../../policy/contracts/ledger';
import { ValidatorResult } from '../../../../policy/contracts/finding';

const ID = 'guardian.split';
const OWN = 'f'.repeat(64);
const sha = (n: number): string => n.toString(16).padStart(64, '0');
const place = (n: number): string => n.toString(16).padStart(16, '0');
const weighing = (more: Partial<Measure> = {}): Measure => ({
  bytes: 10,
  operations: 1,
  deletions: 1,
  rows: 1,
  places: [place(1)],
  ...more,
});
const other = (n: number, measure: Partial<Measure> = {}, state: MeasuredChange['state'] = null): MeasuredChange => ({
  changeId: sha(n),
  measure: weighing(measure),
  staged: null,
  state,
});
const config = (limits: object): AggregateConfig => AggregateConfig.parse({ name: 'split', window: '1h', limits });
const change = (own: Partial<Measure> = {}): SummedChange => ({
  tenant: 'acme',
  target: 'shop',
  sourceTool: 'SQLDryRun',
  requester: 'rita',
  openedAt: '2026-03-01T12:00:00.000Z',
  own: weighing(own),
});

function resultOf(limits: object, others: readonly MeasuredChange[], own: Partial<Measure> = {}): ValidatorResult {
  const settings = config(limits);
  const record = AggregateRecord.parse(sumChanges(change(own), settings, others));
  return ValidatorResult.parse(aggregateResult(ID, OWN, settings, record));
}

test.each([
  ['changes', 3, {}],
  ['bytes', 30, {}],
  ['operations', 3, {}],
  ['deletions', 3, {}],
  ['rows', 3, {}],
  ['places', 3, {}],
])('%s: with a limit for three changes the third one passes and the fourth does not', (limit, at) => {
  const others = [1, 2, 3].map((n) => other(n, { places: [place(n)] }));
  const own = { places: [place(9)] };
  expect(resultOf({ [limit]: at }, others.slice(0, 2), own).status).toBe('ALLOW');
  expect(resultOf({ [limit]: at }, others, own)).toMatchObject({
    status: 'BLOCK',
    reasonCode: 'aggregate_limit',
    evidenceRefs: [1, 2, 3].map((n) => `review:${sha(n)}`),
    details: { sums: { [limit]: limit === 'bytes' ? 40 : 4 } },
  });
});

test('a single change above the limit is blocked too, with itself as evidence', () => {
  expect(resultOf({ rows: 5 }, [], { rows: 6 })).toMatchObject({
    status: 'BLOCK',
    reason: expect.stringMatching(/^Without any other change in the last 1h .*: 6 rows, limit 5$/),
    evidenceRefs: [`review:${OWN}`],
  });
});

test('a limit does not block a change that does not add to it: a read after many deletes, a table that was counted already', () => {
  const others = [1, 2, 3, 4].map((n) => other(n, { places: [place(n)] }));
  expect(resultOf({ deletions: 3, rows: 3 }, others, { deletions: 0, rows: 0 }).status).toBe('ALLOW');
  expect(resultOf({ places: 3 }, others, { places: [place(2)] }).status).toBe('ALLOW');
  expect(resultOf({ places: 3 }, others, { places: [] }).status).toBe('ALLOW');
});

test.each(['operations', 'deletions', 'rows', 'places'] as const)(
  'an unknown number of %s blocks, in this change or in one that may have been applied',
  (limit) => {
    const unknown = { [limit]: null };
    expect(resultOf({ [limit]: 100 }, [], unknown)).toMatchObject({
      status: 'BLOCK',
      reasonCode: 'aggregate_unmeasured',
    });
    expect(resultOf({ [limit]: 100 }, [other(1, unknown, 'COMMITTED')])).toMatchObject({ status: 'BLOCK' });
    expect(resultOf({ [limit]: 100 }, [other(1, unknown, null)])).toMatchObject({ status: 'BLOCK' });
    expect(resultOf({ [limit]: 100 }, [other(1, unknown, 'ROLLED_BACK')])).toMatchObject({ status: 'ALLOW' });
    expect(resultOf({ bytes: 100 }, [other(1, unknown)], unknown)).toMatchObject({ status: 'ALLOW' });
  },
);

test('another change counts with its claim or with what its dry run showed, whichever is larger', () => {
  const deletions = (claimed: number | null, staged: unknown): string => {
    const counted = { ...other(1, { deletions: claimed }), staged: staged as MeasuredChange['staged'] };
    return resultOf({ deletions: 50 }, [counted]).status;
  };
  expect(deletions(1, { deletions: 60, rows: 60 })).toBe('BLOCK');
  expect(deletions(60, { deletions: 1, rows: 1 })).toBe('BLOCK');
  expect(deletions(1, { deletions: 2, rows: 2 })).toBe('ALLOW');
  expect(deletions(null, { deletions: 2, rows: 2 })).toBe('ALLOW');
  expect(deletions(null, null)).toBe('BLOCK');
  expect(deletions(null, { deletions: '2', rows: 2 })).toBe('BLOCK');
});

test('a measure that cannot be parsed counts as unknown', () => {
  expect(
    resultOf({ bytes: 100 }, [{ changeId: sha(1), measure: { bytes: 'few' }, staged: null, state: 'COMMITTED' }])
      .status,
  ).toBe('BLOCK');
});

test(`blocks if there are more than ${MAX_COUNTED} other changes, regardless of their values`, () => {
  const others = Array.from({ length: MAX_COUNTED + 1 }, (_, n) => other(n, { rows: 0, deletions: 0 }));
  expect(resultOf({ rows: 1000 }, others.slice(1)).status).toBe('ALLOW');
  expect(resultOf({ rows: 1000 }, others)).toMatchObject({ status: 'BLOCK', reasonCode: 'aggregate_too_many' });
});

test('the largest record fits into one envelope', () => {
  const places = (n: number): string[] => Array.from({ length: MAX_PLACES + 1 }, (_, i) => place(n * 10_000 + i));
  const big = { bytes: 1e6, operations: 1e6, deletions: 1e6, rows: 1e6 };
  // Most have the same places, since the record has one list of all.
  const [some, more] = [places(0), places(1)];
  const others = Array.from({ length: MAX_COUNTED }, (_, n) =>
    other(n, { ...big, places: n % 100 === 0 ? more : some }),
  );
  const record = sumChanges(change({ ...big, places: places(999) }), config({ places: MAX_PLACES, rows: 1 }), others);
  expect(AggregateRecord.safeParse(record).success).toBe(true);
  expect(Math.ceil(JSON.stringify(record).length / 3) * 4).toBeLessThan(240 * 1024);
});

const measure = fc.record({
  bytes: fc.nat(100),
  operations: fc.option(fc.nat(5)),
  deletions: fc.option(fc.nat(5)),
  rows: fc.option(fc.nat(5)),
  places: fc.option(fc.uniqueArray(fc.nat(8).map(place), { maxLength: 4 }).map((p) => p.sort())),
});
const state = fc.constantFrom<MeasuredChange['state'][]>(null, 'COMMITTED', 'ROLLED_BACK', 'COMPENSATED');
const limitsArbitrary = fc
  .record(
    {
      changes: fc.integer({ min: 1, max: 5 }),
      rows: fc.integer({ min: 1, max: 9 }),
      places: fc.integer({ min: 1, max: 6 }),
    },
    { requiredKeys: [] },
  )
  .filter((limits) => Object.keys(limits).length > 0);
const others = fc
  .array(fc.record({ measure, state }), { maxLength: 6 })
  .map((list) => list.map((o, n): MeasuredChange => ({ ...o, staged: null, changeId: sha(n) })));

test('one more change never turns a BLOCK into an ALLOW, for limits other than places', () => {
  fc.assert(
    fc.property(measure, others, limitsArbitrary, (own, list, { places: _places, ...limits }) => {
      if (Object.keys(limits).length === 0) return;
      for (let n = 1; n <= list.length; n++) {
        if (resultOf(limits, list.slice(0, n - 1), own).status === 'BLOCK')
          expect(resultOf(limits, list.slice(0, n), own).status).toBe('BLOCK');
      }
    }),
  );
});

test('countsAll is true exactly if no needed change is missing or counted with a smaller value', () => {
  fc.assert(
    fc.property(measure, others, limitsArbitrary, fc.nat(), (own, list, limits, pick) => {
      const settings = config(limits);
      const needed = sumChanges(change(own), settings, list);
      expect(countsAll(needed, needed)).toBe(true);
      if (list.length === 0) return;
      const without = sumChanges(
        change(own),
        settings,
        list.filter((_, n) => n !== pick % list.length),
      );
      expect(countsAll(without, needed)).toBe(false);
      expect(countsAll(needed, without)).toBe(true);
      const lighter = needed.counted.map((c, n) =>
        n === pick % list.length ? { ...c, bytes: (c.bytes ?? 0) - 1 } : c,
      );
      expect(countsAll({ ...needed, counted: lighter }, needed)).toBe(false);
    }),
  );
});

test.each([
  [
    'an unknown value recorded as zero',
    { counted: [{ ...sumChanges(change(), config({ rows: 1 }), [other(1)]).counted[0], rows: 0 }] },
  ],
  ['a missing place', { places: [] }],
  ['another agent', { requester: null }],
  ['a smaller value of this change', { own: weighing({ rows: 0 }) }],
])('countsAll is false for %s', (_name, more) => {
  const settings = config({ rows: 1, places: 5 });
  const needed = sumChanges(change(), settings, [other(1, { rows: null })]);
  expect(countsAll(needed, needed)).toBe(true);
  expect(countsAll({ ...needed, ...more } as AggregateRecord, needed)).toBe(false);
});
