/**
 * CPU milliseconds of the best of some runs. On a machine that others use too, the clock on the wall measures them; a
 * pause or a cold start is not the code's either.
 */
export function leastCpuMs(work: () => unknown, runs = 40): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < runs; i++) {
    const began = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(began);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
