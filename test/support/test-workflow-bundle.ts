import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflows } from '../../dev/start-worker';
import { oneAtATime } from './one-at-a-time';
import { PACKED } from './packed-once';

/** The workflows that several system tests run. Bundled once for all test files of a run, because that takes seconds. */
export async function testWorkflowBundle(): Promise<{ readonly code: string }> {
  const folder = process.env[PACKED] ?? '';
  const path = join(folder, 'test-workflows.js');
  return await oneAtATime('bundling the test workflows', async () => {
    if (!existsSync(path)) {
      const { code } = await bundleWorkflows(require.resolve('../system/test-workflows'));
      mkdirSync(folder, { recursive: true });
      writeFileSync(path, code);
    }
    return { code: readFileSync(path, 'utf8') };
  });
}
