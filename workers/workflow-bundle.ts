import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

const ENTRY = require.resolve('../workflows/index');
/** Interceptors of every review. */
export const WORKFLOW_INTERCEPTORS: readonly string[] = [
  require.resolve('../workflows/refuse-run-ahead'),
  require.resolve('../workflows/fair-share'),
];
const PRELOADED = require.resolve('../workflows/preload');
const BUILT = join(__dirname, '..', 'workflow-bundle.js');
/** The compiler writes this file last. An installed package does not have it: its sources do not change, and npm gives its files any times. */
const COMPILED = join(__dirname, '..', '.tsbuildinfo');

/**
 * The code that review workers run, and that recorded histories are replayed with. Cached next to the compiled sources and rebuilt if
 * they are newer.
 */
export async function workflowBundle(): Promise<string> {
  const isCurrent = (): boolean => !existsSync(COMPILED) || statSync(BUILT).mtimeMs >= statSync(COMPILED).mtimeMs;
  if (existsSync(BUILT) && isCurrent()) return readFileSync(BUILT, 'utf8');
  const code = await buildWorkflowBundle();
  // Another worker may be reading the file: replace it atomically.
  writeFileSync(`${BUILT}.${process.pid}`, code);
  renameSync(`${BUILT}.${process.pid}`, BUILT);
  return code;
}

async function buildWorkflowBundle(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: ENTRY,
    payloadConverterPath: require.resolve('../workflows/payload-converter'),
    workflowInterceptorModules: [...WORKFLOW_INTERCEPTORS],
    // Evaluated once per worker, then frozen, instead of once per review: a module must not keep state of a workflow outside
    // of its function.
    preloadModules: [PRELOADED],
  });
  return code;
}
