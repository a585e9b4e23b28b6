import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { rebuild } from '../../support/fresh/rebuild';

const run = promisify(execFile);
const CHILD = resolve(__dirname, '../../support/fresh/child.cjs');

test('three new processes, minified and with different locales and time zones, compute byte-equal plan hash, logic hashes and findings [G23, G52, T11, T29, T35]', async () => {
  const here = rebuild();
  const settings = [
    { TZ: 'UTC', LANG: 'C', LC_ALL: 'C' },
    { TZ: 'Asia/Kathmandu', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' },
    { TZ: 'America/St_Johns', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' },
  ];
  // Hides the warning about require() of an ES module.
  const children = settings.map((env, i) =>
    run(process.execPath, ['--no-warnings', CHILD, String(i)], { env: { ...process.env, ...env }, timeout: 150_000 }),
  );
  for (const { stdout } of await Promise.all(children)) expect(JSON.parse(stdout)).toEqual(here);
  expect(JSON.parse(here.findings)).toHaveLength(here.logicHashes.length);
}, 160_000);

test('100 rebuilds with different completion orders give the same array [G23, T29]', () => {
  const all = new Set(Array.from({ length: 100 }, (_, i) => JSON.stringify(rebuild(i))));
  expect(all.size).toBe(1);
});
