/**
 * CPU milliseconds of the fastest of several runs. Wall-clock time would include other processes on a shared machine; the
 * minimum excludes pauses and a cold start.
 */
export function leastCpuMs(work: () => unknown, runs = 10): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < runs; i++) {
    const began = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(began);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
