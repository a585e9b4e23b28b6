import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { starterBundle } from '../../../source-tools/starter-bundle';
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
const LOWERED = `validators[1].level: The level "confirm" of the pack also replaces "forbid", the default of`;

it('warns about the level of a pack that replaces "forbid", for the rules that the entry does not name', async () => {
  const pack = (more: string) =>
    warnings({ ...GIT, validators: `validators: [{ pack: git-diff }, { pack: secrets, level: ${more} }]` });
  expect(await pack('confirm')).toEqual([`${LOWERED} ${FORBIDDING}`]);
  expect(await pack('confirm, rules: { secrets_known_token: confirm }')).toEqual([
    `${LOWERED} ${FORBIDDING.replace('secrets_known_token, ', '')}`,
  ]);
  expect(await pack('shadow, rules: { secrets_known_token: shadow }')).toEqual([
    `${LOWERED.replace('confirm', 'shadow')} ${FORBIDDING.replace('secrets_known_token, ', '')}`,
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
  ['false', true],
  ["'a' == 'diff'", true],
  ['1 > 2 || false', true],
  ['true', false],
  ['diff.bytes > 1', false],
  ["'a' in metadata", false],
])('condition %j: warns if it reads nothing of the change: %j', async (when, warned) => {
  const condition = `{ name: c0, when: ${JSON.stringify(when)}, reason: r, level: confirm }`;
  const found = await warnings({ ...GIT, validators: `validators: [{ pack: git-diff }, { condition: ${condition} }]` });
  expect(found).toEqual(
    warned ? [`validators[1].condition.when: The condition ${JSON.stringify(when)} reads nothing of the change`] : [],
  );
});

it.each([
  ['infra/{a,b}/**', '{a,b}'],
  ['./infra/**', './'],
  ['infra/?.tf', '?'],
  ['infra/[a-z].tf', '[a-z]'],
  ['!infra/x', '!'],
  ['infra/** ', ' '],
  ['infra\\**', '\\'],
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

it.each([
  ['^GRANT', '"^" is the start of the whole diff, not of a line'],
  ['(?i)^GRANT', '"^" is the start of the whole diff, not of a line'],
  ['GRANT$', '"$" is the end of the whole diff, not of a line'],
  ['(?i)GRANT$', '"$" is the end of the whole diff, not of a line'],
  ['/grant/i', 'the slashes are literal'],
  ['(?m)^GRANT$', null],
  ['(?im)^GRANT$', null],
  ['(^|,)GRANT', null],
  ['COST \\$', null],
  ['/etc/passwd', null],
])('pattern %j: warns that %j', async (pattern, warning) => {
  const validators = `validators: [{ composite: { name: own_lists, children: [{ name: words, rules: [{ pattern: { name: words, forbidden: ['${pattern}'] } }] }] } }]`;
  const at = 'validators[0].composite.children[0].rules[0].pattern.forbidden[0]';
  expect(await warnings({ ...GIT, validators })).toEqual(
    warning === null ? [] : [`${at}: In the pattern ${JSON.stringify(pattern)}, ${warning}`],
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

it('warns about groups that are never asked', async () => {
  const groups = 'groups: { dba: { members: [alice] }, leads: { members: [carol] } }';
  const never = (name: string) =>
    `groups.${name}: Group "${name}" is never asked: it is not the group of a policy, nor of changes that no policy matches`;
  expect(await warnings({ groups })).toEqual([never('leads')]);
  expect(await warnings({ groups, policies: 'policies: [{ key: p, name: P, group: leads }]' })).toEqual([]);
  expect(await warnings({ groups, more: 'implicit: { group: leads }' })).toEqual([never('dba')]);
});

it('warns about times in which no person can answer and no commit can begin', async () => {
  const policies = 'policies: [{ key: p, name: P, deadline: 30s }, { key: q, name: Q }]';
  expect(await warnings({ policies, more: 'deadline: 100ms\nimplicit: { deadline: 59s }\ncommitWindow: 1s' })).toEqual([
    'policies[0].deadline: People have 30s to answer; then the change is rolled back',
    'deadline: People have 100ms to answer; then the change is rolled back',
    'implicit.deadline: People have 59s to answer; then the change is rolled back',
    'commitWindow: A change that takes longer than 1s after the last answer until its commit begins is rolled back',
  ]);
  expect(await warnings({ more: 'deadline: 1m\ncommitWindow: 10s' })).toEqual([]);
});

it('does not warn about a short time in which no person is asked', async () => {
  const alone =
    '{ key: p, name: P, deadline: 30s, requiresConfirmation: false, match: { validatorIds: [guardian.sql_drop] } }';
  const listed = await warnings({ policies: `policies: [${alone}]` });
  expect(listed.filter((each) => each.includes('People have'))).toEqual([]);
  const others = 'policies: [{ key: p, name: P, deadline: 4h }]';
  expect(await warnings({ policies: others, more: 'deadline: 30s\nimplicit: { deadline: 4h }' })).toEqual([]);
});

it('warns about a policy that asks no one and has no callback', async () => {
  expect(await warnings({ policies: 'policies: [{ key: p, name: P, requiresConfirmation: false }]' })).toEqual([
    'policies[0].requiresConfirmation: This policy asks no person and has no callback: each change with a finding that it matches is rolled back',
  ]);
});

/** Those that have a fault on purpose. */
const FAULTY = ['wrong.policy.yaml', 'tickets.policy.yaml'];

/** The other bundles of the documentation. */
function bundlesOfDocs(): (readonly [string, string])[] {
  const docs = join(__dirname, '../../../docs');
  return readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .flatMap((page) =>
      [...readFileSync(join(docs, page), 'utf8').matchAll(/^```yaml ?(\S*)\n([\s\S]*?)^```$/gm)]
        .filter(([, name = '', text = '']) => /^version: 1$/m.test(text) && !FAULTY.includes(name))
        .map(([, name = '', text = '']) => [`${page} ${name}`, text] as const),
    );
}

it.each([
  ...bundlesOfDocs(),
  ...['demo', 'attacks'].map((name) => {
    const path = `examples/${name}/countersign.policy.yaml`;
    return [path, readFileSync(join(__dirname, '../../..', path), 'utf8').replaceAll('${JUDGE_MODEL}', 'm')] as const;
  }),
  ...['SQLDryRun', 'SQLCAS', 'GitPatch', 'TerraformPlan'].map((tool) => [tool, starterBundle(tool)] as const),
  ['HTTPPatch', starterBundle('HTTPPatch', { hosts: ['api.example.com'] })] as const,
])('does not warn about the policy of %s', async (_name, text) => {
  const file = write('shown.yaml', text);
  const host = { now: () => new Date(CHECKED_AT) };
  const { out } = await runCommand(['policy', 'check', file, '--json'], { host });
  const { issues, warnings: listed } = JSON.parse(out) as { issues: { message: string }[]; warnings: object[] };
  // Those of extensions are registered by a module of the page.
  expect(issues.filter(({ message }) => !message.includes('not registered here'))).toEqual([]);
  expect(listed).toEqual([]);
});
