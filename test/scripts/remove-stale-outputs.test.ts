import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const script = pathToFileURL(join(__dirname, '..', '..', 'scripts', 'remove-stale-outputs.mjs')).href;

test('outputs without a source are removed, and all other files of dist are kept', () => {
  const root = mkdtempSync(join(tmpdir(), 'countersign-outputs-'));
  const write = (path: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  };
  const stale = ['dist/rules/x.js', 'dist/rules/x.d.ts', 'dist/gone/y.js', 'dist/gone/y.js.map'];
  const kept = ['dist/rules/x/index.js', 'dist/rules/x/index.d.ts', 'dist/.tsbuildinfo', 'dist/workflow-bundle.js'];
  try {
    ['rules/x/index.ts', ...stale, ...kept].forEach(write);
    const code = `import(${JSON.stringify(script)}).then((m) => process.stdout.write(String(m.removeStaleOutputs(process.argv[1]))))`;
    expect(execFileSync(process.execPath, ['-e', code, root], { encoding: 'utf8' })).toBe('4');
    expect(stale.filter((path) => existsSync(join(root, path)))).toEqual([]);
    expect(kept.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
