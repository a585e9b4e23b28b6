import { runCommand, temporaryFolder } from '../run-command';
import { bundleOf } from './faulty-bundles';

const { write } = temporaryFolder();
const UPDATE = 'guardian.sql_update_without_where';
const DELETE = 'guardian.sql_delete_without_where';
const bundle = bundleOf({
  groups: 'groups: { dba: { members: [alice, bob, carol] }, leads: { members: [dan, erin] } }',
  policies: `policies:
  - key: deletes
    name: Deletes
    match: { validatorIds: [${DELETE}] }
    group: leads
    quorum: 2
    fourEyes: false
  - key: all
    name: All
    match: { validatorIds: [${DELETE}, ${UPDATE}] }
    group: dba`,
  waivers: `waivers:
  - { id: of_team, validatorId: ${UPDATE}, reason: OPS-7, expires: '2027-01-31T00:00:00Z', scope: { tenants: [team], requesters: [dana] } }`,
});

interface Case {
  readonly raw?: string;
  readonly more?: string;
  readonly expect: string;
}

async function test(...cases: readonly Case[]) {
  const tests = cases.map(
    ({ raw = 'delete from orders', more = '', expect: wanted }, i) =>
      `  - { name: case ${i}, target: shop, sourceTool: SQLDryRun, raw: ${raw}${more}, expect: ${wanted} }`,
  );
  const files = [write('bundle.yaml', bundle), write('tests.yaml', `tests:\n${tests.join('\n')}\n`)];
  const run = await runCommand(['policy', 'test', ...files, '--json']);
  const report = (run.out === '' ? null : JSON.parse(run.out)) as {
    results: { problems: string[] }[];
    unusedWaivers: string[];
  } | null;
  return { ...run, report, problems: report?.results.map(({ problems }) => problems) };
}

const LEADS = `{ rule: ${DELETE}, policy: deletes, group: leads, quorum: 2, mayAnswer: [erin, dan] }`;
const DBA = (quorum: number, people: string): string =>
  `{ rule: ${DELETE}, policy: all, group: dba, quorum: ${quorum}, mayAnswer: [${people}] }`;

it('asserts who is asked: rule, policy, group, quorum and people, in any order', async () => {
  const asks = `[${DBA(1, 'alice, carol')}, ${LEADS}]`;
  const done = await test({ more: ', requester: bob', expect: `{ outcome: CONFIRM, asks: ${asks} }` });
  expect([done.code, done.problems]).toEqual([0, [[]]]);
});

it('a policy with four eyes needs one more person if the requester is unknown, and all members may answer', async () => {
  const asks = `[${LEADS}, ${DBA(2, 'alice, bob, carol')}]`;
  expect((await test({ expect: `{ outcome: CONFIRM, asks: ${asks} }` })).problems).toEqual([[]]);
});

it('compares only the given members of a question', async () => {
  const asks = `[{ rule: ${DELETE} }, { rule: ${DELETE}, group: dba }]`;
  expect((await test({ expect: `{ outcome: CONFIRM, asks: ${asks} }` })).problems).toEqual([[]]);
});

it.each([
  [
    'another group, quorum and people',
    `[{ rule: ${DELETE}, policy: deletes, group: dba, quorum: 1, mayAnswer: [dan] }, { rule: ${DELETE}, policy: all }]`,
    [
      `${DELETE}, policy deletes: expected group dba, got leads`,
      `${DELETE}, policy deletes: expected quorum 1, got 2`,
      `${DELETE}, policy deletes: expected people who may answer dan, got dan, erin`,
    ],
  ],
  ['a missing question', `[${LEADS}]`, [`${DELETE} asks dba unexpectedly, by policy all`]],
  [
    'a question that is not asked',
    `[{ rule: ${DELETE} }, { rule: ${DELETE} }, { rule: ${UPDATE} }]`,
    [`expected a question for ${UPDATE}, got none`],
  ],
  [
    'no question',
    '[]',
    [`${DELETE} asks leads unexpectedly, by policy deletes`, `${DELETE} asks dba unexpectedly, by policy all`],
  ],
])('fails for %s', async (_what, asks, problems) => {
  const done = await test({ expect: `{ outcome: CONFIRM, asks: ${asks} }` });
  expect([done.code, done.problems]).toEqual([1, [problems]]);
});

it('no one is asked about a change that passes, is forbidden or is waived for its tenant and requester', async () => {
  const done = await test(
    { raw: 'select 1', expect: '{ outcome: COMMIT, asks: [] }' },
    { raw: 'delete from', expect: '{ outcome: FORBID, asks: [] }' },
    {
      raw: 'update orders set n = 1',
      more: ", at: '2026-11-20T00:00:00Z', requester: dana, tenant: team",
      expect: '{ outcome: COMMIT, asks: [] }',
    },
    {
      raw: 'update orders set n = 1',
      more: ", at: '2026-11-20T00:00:00Z', requester: dana",
      expect: `{ outcome: CONFIRM, asks: [{ rule: ${UPDATE}, policy: all }] }`,
    },
  );
  expect([done.code, done.problems, done.report?.unusedWaivers]).toEqual([0, [[], [], [], []], []]);
});

it('names waivers that no test uses', async () => {
  const done = await test({ expect: '{ outcome: CONFIRM }' });
  expect(done.report?.unusedWaivers).toEqual(['of_team']);
  const { err } = await runCommand(['policy', 'test', write('b.yaml', bundle), write('t.yaml', ONE)]);
  expect(err).toContain('no test uses these waivers: of_team');
});
const ONE = 'tests: [{ name: one, target: shop, sourceTool: SQLDryRun, raw: select 1, expect: { outcome: COMMIT } }]';

it('refuses an unknown member of a question, at its place', async () => {
  const { code, err } = await test({ expect: `{ outcome: CONFIRM, asks: [{ rule: ${DELETE}, groups: dba }] }` });
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/2:\d+ tests\[0\]\.expect\.asks\[0\]\.groups: .*Did you mean \\?"group\\?"/),
  ]);
});

it('says how many rules no test makes fire, with a few of them', async () => {
  const { out, err } = await runCommand([
    'policy',
    'test',
    write('bundle.yaml', bundle),
    write(
      'tests.yaml',
      `tests: [{ name: a, target: shop, sourceTool: SQLDryRun, raw: select 1, expect: { outcome: COMMIT } }]`,
    ),
  ]);
  const [, fired = '', all = ''] = /tests make ([0-9]+) of ([0-9]+) rules fire/.exec(out) ?? [];
  expect(err).toMatch(/^no test makes [0-9]+ rules fire, such as (\w+\.\w+, ){4}\w+\.\w+; --format json names all\n/);
  expect(err).toContain(`makes ${Number(all) - Number(fired)} rules fire`);
});
