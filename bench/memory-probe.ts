/**
 * Loaded into each process by `npm run soak` (node --expose-gc --require). On SIGUSR2 it collects garbage and writes the size of the
 * heap and the number of open handles to a file, which `readProbe` of soak-readings.ts reads.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { probeFile } from './probe-file';

process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const reading = { heapBytes: heapUsed + external, handles: process.getActiveResourcesInfo().length };
  const file = probeFile(process.pid);
  writeFileSync(`${file}.partial`, JSON.stringify(reading));
  renameSync(`${file}.partial`, file);
});
