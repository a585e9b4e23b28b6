import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, type DefaultLogger } from '@temporalio/worker';

const ENTRY = require.resolve('../workflows/index');
const PRELOADED = require.resolve('../workflows/preload');
const BUILT = join(__dirname, '..', 'workflow-bundle.js');
/** What the compiler writes last; an installed package has none, and its sources do not change. */
const COMPILED = join(__dirname, '..', '.tsbuildinfo');

/** The compiled workflow code: made once, kept beside the compiled sources, made again when they are newer. */
export async function workflowBundle(): Promise<string> {
  // Only compiled code keeps a bundle: under a test runner the sources change between runs.
  if (!ENTRY.endsWith('.js')) return await buildWorkflowBundle();
  const since = statSync(existsSync(COMPILED) ? COMPILED : ENTRY).mtimeMs;
  if (existsSync(BUILT) && statSync(BUILT).mtimeMs >= since) return readFileSync(BUILT, 'utf8');
  const code = await buildWorkflowBundle();
  // Another worker may be reading: a whole file takes the place of a whole file.
  writeFileSync(`${BUILT}.${process.pid}`, code);
  renameSync(`${BUILT}.${process.pid}`, BUILT);
  return code;
}

/** The code that every review worker runs, and that recorded histories are replayed with. */
export async function buildWorkflowBundle(logger?: DefaultLogger): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: ENTRY,
    payloadConverterPath: require.resolve('../workflows/payload-converter'),
    // Evaluated once for all reviews of a worker, then frozen, instead of once for each review: no module of ours may keep
    // anything of one workflow outside of its function.
    preloadModules: [PRELOADED],
    ...(logger === undefined ? {} : { logger }),
  });
  return code;
}
