import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/root';

test('a choice that names no defect is refused, and does not run all tests', () => {
  const script = join(ROOT, 'scripts/defects.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, '--only', 'no such defect'], {
    encoding: 'utf8',
    timeout: 50_000,
  });
  expect({ status, stderr }).toEqual({ status: 2, stderr: '--only: no defect has a name with "no such defect"\n' });
});
