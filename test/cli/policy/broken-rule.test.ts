import { join } from 'node:path';
import { runCommand, temporaryFolder } from '../run-command';
import { bundleOf } from './faulty-bundles';

const { write } = temporaryFolder();
const root = join(__dirname, '../../..');

const MODULE = `
const { z } = require(${JSON.stringify(require.resolve('zod'))});
const apply = () => { throw new TypeError('tool.touched: add "touched"'); };
const { defineRule } = require(${JSON.stringify(join(root, 'policy/rules/define'))});
const rule = {
  name: 'team_broken', pack: 'team-rules', logicRevision: 1, config: z.strictObject({}), sourceTools: '*', reads: ['facts'],
  defaultLevel: 'confirm', why: 'Why.', docs: 'https://example.com/', apply,
};
exports.extension = { validators: [defineRule(rule)] };
`;

const STACK = /TypeError: tool\.touched: add "touched"\n +at [^\n]*extension\.cjs:3/;

const bundle = write('bundle.yaml', bundleOf({ validators: 'validators: [{ rule: team_broken }]' }));
const host = { env: { COUNTERSIGN_EXTENSIONS: write('extension.cjs', MODULE) } };

it('explain shows the author of a rule what it threw, and where', async () => {
  const { code, out } = await runCommand(['policy', 'explain', bundle], { stdin: 'select 1', host });
  expect(code).toBe(8);
  expect(out).toMatch(/The validator threw TypeError\n/);
  expect(out).toMatch(STACK);
});

it('eval has it as a member of the line', async () => {
  const stdin = JSON.stringify({ id: '1', sourceTool: 'SQLDryRun', raw: 'select 1' });
  const { out } = await runCommand(['policy', 'eval', '--policy', bundle], { stdin, host });
  const { outcome, thrown } = JSON.parse(out) as { outcome: string; thrown: Record<string, string> };
  expect([outcome, Object.keys(thrown)]).toEqual(['CONFIRM', ['guardian.team_broken']]);
  expect(thrown['guardian.team_broken']).toMatch(STACK);
});

it('a test that expects the question passes, and names the rule that threw', async () => {
  const tests = write(
    'tests.yaml',
    'tests: [{ name: reads, target: shop, sourceTool: SQLDryRun, raw: select 1, expect: { outcome: CONFIRM } }]',
  );
  const { code, err } = await runCommand(['policy', 'test', bundle, tests], { host });
  expect(code).toBe(0);
  expect(err).toContain('guardian.team_broken threw in the test "reads":');
  expect(err).toMatch(STACK);
});
