/**
 * Loaded into each process by `npm run soak` (node --expose-gc --require). On SIGWINCH it collects garbage and writes the size of the
 * heap and the number of open handles to a file, which `readProbe` of soak-readings.ts reads.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { probeFile } from './probe-file';

// The SDK ends a worker on SIGUSR2, and SIGUSR1 starts Node's debugger.
process.on('SIGWINCH', () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const reading = { heapBytes: heapUsed + external, handles: process.getActiveResourcesInfo().length };
  const file = probeFile(process.pid);
  writeFileSync(`${file}.partial`, JSON.stringify(reading));
  renameSync(`${file}.partial`, file);
});
