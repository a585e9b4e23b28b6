import { runCommand, temporaryFolder } from '../run-command';
import { bundleOf, CHECKED_AT } from './faulty-bundles';

const { write } = temporaryFolder();
const PACK = 'pack: cross-cutting';

async function warnings(entry: string): Promise<unknown> {
  const file = write('bundle.yaml', bundleOf({ validators: `validators: [{ pack: sql-postgres }, { ${entry} }]` }));
  const args = ['policy', 'check', file, '--json'];
  const { code, out } = await runCommand(args, { host: { now: () => new Date(CHECKED_AT) } });
  expect(code).toBe(0);
  return (JSON.parse(out) as { warnings: unknown }).warnings;
}

it.each([
  ['that the rule knows', PACK],
  ['if the rule is off', `${PACK}, rules: { cross_unknown_tool: off }`],
])('says nothing about a source tool %s', async (_what, entry) => {
  expect(await warnings(entry)).toEqual([]);
});

it('warns about a source tool whose every change cross_unknown_tool forbids', async () => {
  const entry = `${PACK}, rules: { cross_unknown_tool: { config: { known: [GitPatch] } } }`;
  expect(await warnings(entry)).toMatchObject([
    {
      path: 'targets.shop.sourceTools[0]',
      message: 'The rule cross_unknown_tool (level forbid) fires for every change of "SQLDryRun"',
      fix: expect.stringContaining('known: [SQLDryRun, …]') as string,
    },
  ]);
});
