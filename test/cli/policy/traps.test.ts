import { runCommand, temporaryFolder } from '../run-command';
import { bundleOf, CHECKED_AT } from './faulty-bundles';

const { write } = temporaryFolder();

async function warnings(members: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const file = write('bundle.yaml', bundleOf(members));
  const run = await runCommand(['policy', 'check', file, '--json'], { host: { now: () => new Date(CHECKED_AT) } });
  expect(run.code).toBe(0);
  const { warnings: listed } = JSON.parse(run.out) as { warnings: { path: string; message: string }[] };
  return listed.map(({ path, message }) => `${path}: ${message}`);
}

const GIT = { targets: 'targets: { shop: { sourceTools: [GitPatch] } }' };
const FORBIDDING = 'secrets_known_token, secrets_private_key, secrets_covered, secrets_in_metadata';
const LOWERED = `validators[0].level: The level "confirm" of the pack also replaces "forbid", the default of`;

it('warns about the level of a pack that replaces "forbid", for the rules that the entry does not name', async () => {
  const pack = (more: string) => warnings({ ...GIT, validators: `validators: [{ pack: secrets, level: ${more} }]` });
  expect(await pack('confirm')).toEqual([`${LOWERED} ${FORBIDDING}`]);
  expect(await pack('confirm, rules: { secrets_known_token: confirm }')).toEqual([
    `${LOWERED} ${FORBIDDING.replace('secrets_known_token, ', '')}`,
  ]);
  expect(await pack('forbid')).toEqual([]);
});

it('warns about a target of which no validator holds a change', async () => {
  const conditions = (...levels: readonly string[]) =>
    warnings({
      ...GIT,
      validators: `validators: [${levels
        .map((level, i) => `{ condition: { name: c${i}, when: diff.bytes > 1, reason: r, level: ${level} } }`)
        .join(', ')}]`,
    });
  expect(await conditions('advise', 'advise')).toEqual([
    'targets.shop.sourceTools[0]: No validator holds a change of "GitPatch": all of them have level "advise"',
  ]);
  expect(await conditions('advise', 'confirm')).toEqual([]);
});

it.each([
  ['infra/{a,b}/**', '{a,b}'],
  ['./infra/**', './'],
  ['infra/?.tf', '?'],
  ['infra/[a-z].tf', '[a-z]'],
  ['!infra/x', '!'],
  ['infra/** ', ' '],
  ['app/[user-id]/page.tsx', null],
  ['{{name}}/**', null],
  ['**/*.tf', null],
])('glob %j: warns about %j', async (glob, sign) => {
  const validators = `validators: [{ rule: git_protected_paths, config: { also: ['${glob}'] } }]`;
  const message = `In the glob ${JSON.stringify(glob)}, ${JSON.stringify(sign)} is literal`;
  expect(await warnings({ ...GIT, validators })).toEqual(
    sign === null ? [] : [`validators[0].config.also[0]: ${message}`],
  );
});

it('warns about targets whose names differ by case', async () => {
  const targets = 'targets: { shop: { sourceTools: [GitPatch] }, Shop: { sourceTools: [GitPatch] } }';
  expect(await warnings({ targets, validators: 'validators: [{ pack: git-diff }]' })).toEqual([
    'targets.Shop: "Shop" and "shop" are two targets: names differ by case',
  ]);
});

it('warns about a target without the rules of a source tool that other targets have', async () => {
  const git = '{ sourceTools: [GitPatch] }';
  const entries = (...more: readonly string[]) =>
    warnings({
      targets: `targets: { live: ${git}, trial: ${git} }`,
      validators: `validators: [{ pack: git-diff, targets: [live] }, ${more.join(', ')}]`,
    });
  const warning =
    'targets.trial.sourceTools[0]: No rule for "GitPatch" reads the changes of this target: the rules for it are limited to other targets';
  expect(await entries('{ pack: secrets }')).toEqual([warning]);
  expect(await entries('{ pack: secrets }', '{ rule: git_binary, targets: [trial] }')).toEqual([]);
  expect(await entries('{ always-approve: { reason: trial data }, targets: [trial] }')).toEqual([]);
});

it.each([
  ['confirm', 'shadow'],
  ['shadow', 'confirm'],
])('a policy may name a rule that is %s for one tool and %s for another', async (one, other) => {
  const entry = (tool: string, level: string) =>
    `{ rule: cross_digest_mismatch, level: ${level}, sourceTools: [${tool}] }`;
  const listed = await warnings({
    targets: 'targets: { shop: { sourceTools: [GitPatch, SQLDryRun] } }',
    validators: `validators: [{ pack: git-diff }, { pack: sql-postgres }, ${entry('GitPatch', one)}, ${entry('SQLDryRun', other)}]`,
    policies: 'policies: [{ key: p, name: P, match: { validatorIds: [guardian.cross_digest_mismatch] } }]',
  });
  expect(listed).toEqual([]);
});
