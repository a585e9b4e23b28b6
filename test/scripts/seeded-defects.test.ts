import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(__dirname, '..', '..');

interface Defect {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly tests: readonly string[];
}

function seededDefects(): readonly Defect[] {
  const list = pathToFileURL(join(root, 'scripts', 'defects', 'list.mjs')).href;
  const script = `import(${JSON.stringify(list)}).then(({ DEFECTS }) => process.stdout.write(JSON.stringify(DEFECTS)))`;
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })) as Defect[];
}

test('each seeded defect still has exactly one place in the sources, changes it, and names tests that exist', () => {
  const defects = seededDefects();
  expect(defects.length).toBeGreaterThan(100);
  expect(new Set(defects.map(({ name }) => name)).size).toBe(defects.length);
  const stale = defects.filter(
    ({ file, from, to, tests }) =>
      !existsSync(join(root, file)) ||
      readFileSync(join(root, file), 'utf8').split(from).length !== 2 ||
      from === to ||
      tests.length === 0 ||
      tests.some((test) => !existsSync(join(root, test))),
  );
  expect(stale.map(({ name, file, from }) => `${name}: ${file}: ${from}`)).toEqual([]);
});
