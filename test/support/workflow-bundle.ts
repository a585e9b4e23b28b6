import { join } from 'node:path';
import type * as Compiled from '../../workers/workflow-bundle';
import { compiled } from './compiled';

/**
 * The workflow bundle of the compiled sources, which is built once, because that takes seconds, and shared with the processes that tests
 * start. Code that is tested gets it too: see jest.config.js.
 */
export async function workflowBundle(): Promise<string> {
  const path = join(await compiled(), 'workers', 'workflow-bundle.js');
  // The global set-up, which runs outside of the tests, has no `jest`.
  return await (require(path) as typeof Compiled).workflowBundle();
}
