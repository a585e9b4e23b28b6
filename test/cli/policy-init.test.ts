import { runCommand } from './run-command';

it('names the hosts of a starter bundle for HTTP, which then compiles', async () => {
  const { code, out } = await runCommand([
    'policy',
    'init',
    '--tool',
    'HTTPPatch',
    '--hosts',
    'api.example.com,*.shop.internal',
  ]);
  expect(code).toBe(0);
  expect(out).toContain('allow: [{ hosts: ["api.example.com", "*.shop.internal"] }]');
  expect((await runCommand(['policy', 'check', '-'], { stdin: out })).code).toBe(0);
});

it('refuses hosts for a source tool without any', async () => {
  const { code, err } = await runCommand(['policy', 'init', '--tool', 'SQLDryRun', '--hosts', 'api.example.com']);
  expect([code, err]).toEqual([2, expect.stringContaining('--hosts: only HTTPPatch has hosts')]);
});
