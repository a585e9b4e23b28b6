import { runCommand, temporaryFolder } from '../run-command';
import { bundleOf, CHECKED_AT } from './faulty-bundles';

const { write } = temporaryFolder();
const RULE = 'guardian.sql_update_without_where';
const waiver = (id: string, scope: string, expires = '2027-01-31T00:00:00Z', rule = RULE): string =>
  `\n  - { id: ${id}, validatorId: ${rule}, reason: OPS-7, expires: '${expires}', scope: { ${scope} } }`;
const TARGETS = 'targets: { shop: { sourceTools: [SQLDryRun] }, docs: { sourceTools: [GitPatch] } }';
const VALIDATORS = 'validators: [{ pack: sql-postgres }, { pack: git-diff }]';

async function warnings(...waivers: readonly string[]): Promise<readonly string[]> {
  const text = bundleOf({ targets: TARGETS, validators: VALIDATORS, waivers: `waivers:${waivers.join('')}` });
  const host = { now: () => new Date(CHECKED_AT) };
  const file = write('bundle.yaml', text);
  const { code, out, err } = await runCommand(['policy', 'check', file], { host });
  expect([code, out]).toEqual([0, expect.stringContaining('shop/SQLDryRun  plan')]);
  const json = await runCommand(['policy', 'check', file, '--json'], { host });
  const { warnings: listed } = JSON.parse(json.out) as { warnings: { path: string; message: string; fix: string }[] };
  for (const { path, message, fix } of listed)
    expect(err.replaceAll(/\s+/g, ' ')).toContain(`${path}: ${message} ${fix}`);
  return listed.map(({ path, message }) => `${path}: ${message}`);
}

it('says nothing about waivers that changes can use', async () => {
  expect(await warnings(waiver('a', 'targets: [shop]'), waiver('b', 'requesters: [dana]'))).toEqual([]);
});

it.each([
  ['of a target whose changes the rule does not read', waiver('a', 'targets: [docs]')],
  ['of a tool that the rule does not read', waiver('a', 'sourceTools: [GitPatch]')],
  ['of a target that does not accept the tool', waiver('a', 'targets: [docs], sourceTools: [SQLDryRun]')],
])('warns about a waiver %s', async (_what, unused) => {
  expect(await warnings(unused)).toEqual([
    `waivers[0].id: Waiver "a" is never used: ${RULE} does not run for its targets and source tools`,
  ]);
});

it('warns about a waiver that an earlier one covers, and not if that one expires before it or is narrower', async () => {
  const wide = waiver('wide', 'targets: [shop]');
  const narrow = waiver('narrow', 'targets: [shop], requesters: [dana]', '2026-12-31T00:00:00Z');
  expect(await warnings(wide, narrow)).toEqual(['waivers[1].id: Waiver "narrow" is never used: "wide" covers it']);
  expect(await warnings(narrow, wide)).toEqual([]);
  expect(await warnings(wide, waiver('late', 'targets: [shop]', '2028-01-31T00:00:00Z'))).toEqual([]);
  expect(await warnings(wide, waiver('other', 'requesters: [dana]'))).toEqual([]);
  expect(await warnings(wide, waiver('rule', 'targets: [shop]', undefined, 'guardian.sql_truncate'))).toEqual([]);
});

it('warnings of `--format sarif` have their level', async () => {
  const text = bundleOf({
    targets: TARGETS,
    validators: VALIDATORS,
    waivers: `waivers:${waiver('a', 'targets: [docs]')}`,
  });
  const run = await runCommand(['policy', 'check', write('b.yaml', text), '--format', 'sarif'], {
    host: { now: () => new Date(CHECKED_AT) },
  });
  const { runs } = JSON.parse(run.out) as { runs: { results: { level: string }[] }[] };
  expect(runs[0]?.results.map(({ level }) => level)).toEqual(['warning']);
});
