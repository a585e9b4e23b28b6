/** Entry point of one thread, with the extensions of its process. Tasks are queued in the port until it listens. */
import { parentPort, workerData } from 'node:worker_threads';
import { serveDerivation } from '../activities/review/derivation-threads';
import type { DerivationThreadData } from './derivation';
import { loadExtensions } from './extensions';

const port = parentPort;
if (port === null) throw new Error('derivation-thread runs as a worker thread only');
void loadExtensions((workerData as DerivationThreadData).extensions).then(({ sourceTools, validators }) =>
  serveDerivation(port, { tools: sourceTools, validators }),
);
