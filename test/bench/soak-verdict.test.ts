import { growthOf, type Sample } from '../../bench/soak-verdict';

/** Readings each 20 reviews, with noise that repeats and a warm-up like that of a cache. */
function series(
  length: number,
  heapPerReview: number,
  more: Record<string, (reviews: number) => number> = {},
): Sample[] {
  return Array.from({ length }, (_, i) => {
    const reviews = i * 20;
    const noise = [0, 1.5, -1, 0.5, -0.5, 2, -2][i % 7] ?? 0;
    const warm = 30 * Math.min(1, i / (length * 0.2));
    const extra = Object.fromEntries(Object.entries(more).map(([name, of]) => [name, of(reviews)]));
    return { reviews, values: { heapMiB: 60 + warm + noise + heapPerReview * reviews, ...extra } };
  });
}

const leaks = (of: Record<string, Sample[]>): string[] =>
  growthOf(of)
    .filter(({ isLeak }) => isLeak)
    .map(({ process, value }) => `${process} ${value}`);

test('finds no leak in a heap that only fills its caches, despite noise', () => {
  expect(leaks({ review: series(60, 0) })).toEqual([]);
});

test('finds a heap that keeps 10 KiB of each review, and names the process', () => {
  expect(leaks({ review: series(60, 10 / 1024), commit: series(60, 0) })).toEqual(['review heapMiB']);
});

test('finds connections that are never closed, and not those of a pool that was filled', () => {
  const leaking = series(60, 0, { connections: (reviews) => 10 + reviews * 0.02 });
  const pool = series(60, 0, { connections: (reviews) => (reviews < 200 ? 4 : 10) });
  expect(leaks({ leaking, pool })).toEqual(['leaking connections']);
});

test('finds what worker threads keep, and gives the caches of a server more room', () => {
  const threads = series(60, 0, { threadsHeapMiB: (reviews) => 40 + (reviews * 10) / 1024 });
  const caches = series(60, 0, { anonymousMiB: (reviews) => 160 + (reviews * 46) / 1024 });
  const server = series(60, 0, { anonymousMiB: (reviews) => 160 + (reviews * 200) / 1024 });
  expect(leaks({ threads, caches, server })).toEqual(['threads threadsHeapMiB', 'server anonymousMiB']);
});

test('ignores a few readings that are far off', () => {
  const samples = series(60, 0).map((sample, i) => (i % 20 === 19 ? { ...sample, values: { heapMiB: 400 } } : sample));
  expect(leaks({ review: samples })).toEqual([]);
});

test('counts a value that is not a number as a leak', () => {
  const samples = series(60, 0, { handles: () => Number.NaN });
  expect(leaks({ review: samples })).toEqual(['review handles']);
});

test('refuses to judge too few readings, or readings without a bound', () => {
  expect(() => growthOf({ review: series(6, 0) })).toThrow('at least 8 readings');
  expect(() => growthOf({ review: series(60, 0, { other: () => 1 }) })).toThrow('Expected a bound for other');
});
