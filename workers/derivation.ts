import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { derivationThreads, THREAD_LIMITS, type DerivationThreads } from '../activities/review/derivation-threads';

/** What a derivation thread needs to load the same modules as its process. */
export interface DerivationThreadData {
  readonly extensions: string;
}

/** Threads that parse diffs and run rules. `extensions` is the value of COUNTERSIGN_EXTENSIONS. Requires compiled sources. */
export function startDerivationThreads(extensions: string, wallMs?: number, size?: number): DerivationThreads {
  const workerData: DerivationThreadData = { extensions };
  const start = (): Worker =>
    new Worker(join(__dirname, 'derivation-thread.js'), { workerData, resourceLimits: THREAD_LIMITS });
  return derivationThreads(start, wallMs, size);
}
