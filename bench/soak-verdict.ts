/** One reading of one process: `values` by what was read, such as `heapMiB`. */
export interface Sample {
  /** Reviews that had ended when it was taken. */
  readonly reviews: number;
  readonly values: Readonly<Record<string, number>>;
}

/**
 * What may grow by how much: `perReview` by the slope, and `inTotal` over all readings, which is above the noise of a process that
 * does not leak. A leak exceeds both.
 */
interface GrowthBound {
  readonly perReview: number;
  readonly inTotal: number;
}

const GROWTH_BOUNDS: Readonly<Record<string, GrowthBound>> = {
  /** Of the main thread, after a garbage collection. */
  heapMiB: { perReview: 4 / 1024, inTotal: 4 },
  /** Of all other threads together: workflows, rules and parsers. */
  threadsHeapMiB: { perReview: 4 / 1024, inTotal: 4 },
  residentMiB: { perReview: 48 / 1024, inTotal: 48 },
  /** Of a server. The embedded Temporal server grew by 42 KiB a review over 1,600 reviews, and steadily; what it keeps is not ours. */
  anonymousMiB: { perReview: 96 / 1024, inTotal: 96 },
  handles: { perReview: 0.01, inTotal: 8 },
  files: { perReview: 0.01, inTotal: 8 },
  threads: { perReview: 0.01, inTotal: 4 },
  connections: { perReview: 0.01, inTotal: 8 },
};

/** Caches and pools fill meanwhile. */
const WARM_UP = 0.25;
const MIN_SAMPLES = 8;
/** Readings of which enough remain after the warm-up. */
export const MIN_READINGS = Math.ceil(MIN_SAMPLES / (1 - WARM_UP));

export interface Growth {
  readonly process: string;
  readonly value: string;
  readonly perReview: number;
  readonly inTotal: number;
  readonly isLeak: boolean;
}

/**
 * The growth of each value of each process after the warm-up, by the Theil–Sen slope (the median of the slopes of all pairs), which a
 * few outliers do not change. Throws RangeError if there are too few readings.
 */
export function growthOf(series: Readonly<Record<string, readonly Sample[]>>): readonly Growth[] {
  return Object.entries(series).flatMap(([process, samples]) => {
    const steady = samples.slice(Math.floor(samples.length * WARM_UP));
    const [first, last] = [steady[0], steady.at(-1)];
    if (first === undefined || last === undefined || steady.length < MIN_SAMPLES)
      throw new RangeError(
        `${process}: expected at least ${MIN_SAMPLES} readings after the warm-up, got ${steady.length}`,
      );
    return Object.keys(first.values).map((value): Growth => {
      const bound = GROWTH_BOUNDS[value];
      if (bound === undefined) throw new RangeError(`Expected a bound for ${value}`);
      const points = steady.map((sample) => ({ x: sample.reviews, y: sample.values[value] ?? Number.NaN }));
      const perReview = slopeOf(points);
      const inTotal = perReview * (last.reviews - first.reviews);
      // Also a leak: a value that is not a number.
      const isWithin = perReview <= bound.perReview || inTotal <= bound.inTotal;
      return { process, value, perReview, inTotal, isLeak: !isWithin };
    });
  });
}

function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  const slopes = points.flatMap((a, i) =>
    points.slice(i + 1).flatMap((b) => (b.x > a.x ? [(b.y - a.y) / (b.x - a.x)] : [])),
  );
  if (slopes.some(Number.isNaN)) return Number.NaN;
  const sorted = slopes.sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 1 ? middle : middle - 1], sorted[middle]];
  if (low === undefined || high === undefined) throw new RangeError('No review ended between the readings');
  return (low + high) / 2;
}
