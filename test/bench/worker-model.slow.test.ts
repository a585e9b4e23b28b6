import { curveSvg } from '../../bench/curve-svg';
import { APPENDS, simulate, type ModelInput } from '../../bench/worker-model';

const input = (workers: number, more: Partial<ModelInput> = {}): ModelInput => ({
  workers,
  tenants: 64,
  lockByScope: true,
  cpuMs: { review: 100, judge: 10, commit: 50 },
  holds: { openingMs: 10, endingMs: 5 },
  latencyMs: 50,
  perTarget: 8,
  judgePerSecond: null,
  appendsPerSecond: 1_000_000,
  checkpointRowsPerSecond: 10_000_000,
  rows: 16,
  reviews: workers * 400,
  open: workers * 40,
  ...more,
});

test('one worker of each kind is bounded by the CPU of its review worker', () => {
  const { perSecond, busiest } = simulate(input(1));
  expect(perSecond).toBeGreaterThan(9);
  expect(perSecond).toBeLessThanOrEqual(10.2);
  expect(busiest.name).toBe('CPU of the review workers');
});

test('the throughput of 64 workers is 64 times that of one if tenants share nothing', () => {
  const [one, many] = [simulate(input(1)), simulate(input(64))];
  expect(many.perSecond / one.perSecond).toBeGreaterThan(60);
  expect(many.busiest.name).toBe('CPU of the review workers');
});

test('one lock for all openings bounds the throughput to its hold time', () => {
  const { perSecond, busiest } = simulate(input(64, { lockByScope: false }));
  expect(perSecond).toBeGreaterThan(95);
  expect(perSecond).toBeLessThanOrEqual(101);
  expect(busiest).toEqual({ name: 'the lock of openings of all', share: expect.closeTo(1, 1) });
});

test('the slots of a target bound its reviews if there are few', () => {
  const few = simulate(input(4, { tenants: 1, perTarget: 1, latencyMs: 500 }));
  expect(few.busiest.name).toBe('the slots of the target of tenant 0');
  expect(few.perSecond).toBeLessThan(simulate(input(4, { tenants: 1, latencyMs: 500 })).perSecond);
});

test('the rate limit of the judge bounds the reviews of all workers, if there is one', () => {
  const limited = simulate(input(4, { judgePerSecond: 5 }));
  expect(limited.perSecond).toBeCloseTo(5, 1);
  expect(limited.busiest).toEqual({ name: 'the rate limit of the judge', share: expect.closeTo(1, 1) });
  expect(simulate(input(4)).perSecond).toBeGreaterThan(35);
});

test('the appends to the ledger bound the reviews of all workers to their rate divided by those of one review', () => {
  const { perSecond, busiest } = simulate(input(16, { appendsPerSecond: 1_000 }));
  expect(APPENDS).toBe(10);
  expect(perSecond).toBeGreaterThan(97);
  expect(perSecond).toBeLessThanOrEqual(101);
  expect(busiest.name).toBe('the appends to the ledger');
});

test('the checkpoints bound the reviews to those whose rows they cover', () => {
  const { perSecond, busiest } = simulate(input(16, { checkpointRowsPerSecond: 800 }));
  expect(perSecond).toBeGreaterThan(48);
  expect(perSecond).toBeLessThanOrEqual(50.5);
  expect(busiest.name).toBe('the checkpoints');
});

test('a chart has a line for each model and a circle for each measured point, and escapes its labels', () => {
  const svg = curveSvg('Title', { x: 'x', y: 'y' }, [
    {
      label: 'a < b',
      color: '#000000',
      points: [
        { x: 1, y: 5 },
        { x: 64, y: 300 },
      ],
    },
    {
      label: 'measured',
      color: '#111111',
      points: [
        { x: 1, y: 4 },
        { x: 2, y: 6 },
      ],
      isMeasured: true,
    },
  ]);
  expect(svg).toContain('a &lt; b');
  expect(svg.match(/<polyline/g)).toHaveLength(1);
  expect(svg.match(/<circle/g)).toHaveLength(2);
  expect(svg).not.toContain('NaN');
});
