/**
 * Whether tests that run the same code with many cases run all of them, or a larger sample: in `.ci/run`, in `npm run test:browser` and with
 * COUNTERSIGN_TEST_ALL=1. Otherwise they run a sample, because `npm test` should take a few minutes.
 */
export const RUN_ALL = process.env['COUNTERSIGN_TEST_ALL'] === '1';

/** Every case, or the first of each `size` cases. The order is kept. */
export function sampled<T>(cases: readonly T[], size: number): readonly T[] {
  return RUN_ALL ? cases : cases.filter((_, i) => i % size === 0);
}
