import fs from 'node:fs';
import { workflowBundle } from '../../workers/workflow-bundle';

jest.mock('@temporalio/worker', () => ({ bundleWorkflowCode: async () => ({ code: 'built now' }) }));
afterEach(() => jest.restoreAllMocks());

/** The modification times of the files next to the compiled sources, without those that do not exist. */
function files(times: Readonly<Record<string, number>>): void {
  const timeOf = (path: fs.PathLike) => Object.entries(times).find(([name]) => String(path).endsWith(name))?.[1];
  jest.spyOn(fs, 'existsSync').mockImplementation((path) => timeOf(path) !== undefined);
  jest.spyOn(fs, 'statSync').mockImplementation((path) => ({ mtimeMs: timeOf(path) }) as never);
  jest.spyOn(fs, 'readFileSync').mockReturnValue('built before');
  jest.spyOn(fs, 'writeFileSync').mockReturnValue();
  jest.spyOn(fs, 'renameSync').mockReturnValue();
}

test('an installed package runs the bundle that was packed, regardless of the times that npm gave its files', async () => {
  files({ '/workflow-bundle.js': 1, 'workflows/index.ts': 2 });
  expect(await workflowBundle()).toBe('built before');
});

test('in a clone the bundle is built again if the compiler has run since, and built if it is missing', async () => {
  files({ '/workflow-bundle.js': 2, '.tsbuildinfo': 1 });
  expect(await workflowBundle()).toBe('built before');
  files({ '/workflow-bundle.js': 1, '.tsbuildinfo': 2 });
  expect(await workflowBundle()).toBe('built now');
  files({ '.tsbuildinfo': 2 });
  expect(await workflowBundle()).toBe('built now');
});
