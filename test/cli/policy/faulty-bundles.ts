/** A bundle with one fault. The faulty line ends with the comment `# here`. Faults of which the compiler has a test are not repeated. */
export interface FaultyBundle {
  readonly fault: string;
  readonly text: string;
  /** Path of the issue. */
  readonly at: string;
  /** What message and fix say, in this order. */
  readonly says: readonly string[];
}

/** The time at which the bundles are checked. */
export const CHECKED_AT = '2026-11-20T10:00:00.000Z';

/** Sections of a bundle as YAML, each with its key; the others are as in a correct bundle. */
interface Sections {
  readonly targets?: string;
  readonly groups?: string;
  readonly defaultGroup?: string;
  readonly validators?: string;
  readonly policies?: string;
  readonly waivers?: string;
  readonly more?: string;
}

export function bundleOf({
  targets = 'targets: { shop: { sourceTools: [SQLDryRun] } }',
  groups = 'groups: { dba: { members: [alice, bob] } }',
  defaultGroup = 'defaultGroup: dba',
  validators = 'validators: [{ pack: sql-postgres }]',
  policies = 'policies: []',
  waivers = 'waivers: []',
  more = '',
}: Sections): string {
  const head = 'version: 1\nname: shop\ndomain: shop\nprovider: none\nmodel: none';
  return [head, targets, groups, defaultGroup, validators, policies, waivers, more].join('\n');
}

const faulty = (fault: string, sections: Sections, at: string, ...says: string[]): FaultyBundle => ({
  fault,
  text: bundleOf(sections),
  at,
  says,
});

const condition = (when: string, more = ''): string => `validators:
  - pack: sql-postgres
  - condition:
      name: large
      reason: Large changes are seen by a person.
      when: ${when} # here${more}`;

const waiver = (changed: Readonly<Record<string, string>>): string => {
  const members = {
    id: 'ops_7',
    validatorId: 'guardian.sql_update_without_where',
    reason: 'OPS-7',
    expires: "'2027-01-31T00:00:00Z'",
    scope: '{ targets: [shop] }',
    ...changed,
  };
  const lines = Object.entries(members).map(([key, value]) => `${key}: ${value}${key in changed ? ' # here' : ''}`);
  return `waivers:\n  - ${lines.join('\n    ')}`;
};

const TWO_TOOLS = 'targets: { shop: { sourceTools: [SQLDryRun, HTTPPatch] } }';
const BOTH_PACKS = '  - { pack: sql-postgres }\n  - { pack: http-patch }';
const TARGET = (lines: string): string => `targets:\n  shop:\n    ${lines}`;

const people: readonly FaultyBundle[] = [
  faulty(
    'a quorum that the default group cannot meet',
    { policies: 'policies: [{ key: p, name: P, quorum: 3 }] # here' },
    'policies[0].quorum',
    'Group "dba" has 2 member(s), fewer than the quorum of 3',
    'Lower the quorum, or add members',
  ),
  faulty(
    'an implicit quorum that cannot be met',
    { more: 'implicit: { quorum: 4 } # here' },
    'implicit.quorum',
    'Group "dba" has 2 member(s), fewer than the quorum of 4',
  ),
  faulty('a deadline of zero', { more: 'deadline: 0s # here' }, 'deadline', 'A time of zero is not possible'),
  faulty(
    'two entries with the same pack for one of several targets',
    {
      targets: 'targets: { live: { sourceTools: [SQLDryRun] }, trial: { sourceTools: [SQLDryRun] } }',
      validators:
        'validators:\n  - { pack: sql-postgres, targets: [live] }\n  - { pack: sql-postgres, targets: [live, trial] } # here',
    },
    'validators[1].pack',
    'The pack "sql-postgres" is listed twice for target "live"',
    'limit the entries to different "targets"',
  ),
];

const tools: readonly FaultyBundle[] = [
  faulty(
    'a misspelled source tool',
    { targets: TARGET('sourceTools: [SQLDryRum] # here') },
    'targets.shop.sourceTools[0]',
    'Unknown source tool "SQLDryRum"',
    'Did you mean "SQLDryRun"?',
  ),
  faulty(
    'a source tool of a module that is not loaded',
    { targets: TARGET('sourceTools: [SQLDryRun, Refund] # here') },
    'targets.shop.sourceTools[1]',
    'Unknown source tool "Refund"',
    'SQLDryRun',
    'COUNTERSIGN_EXTENSIONS',
  ),
  faulty(
    'an unknown source tool in a second target',
    { targets: 'targets:\n  shop: { sourceTools: [SQLDryRun] }\n  docs: { sourceTools: [GitPach] } # here' },
    'targets.docs.sourceTools[0]',
    'Unknown source tool "GitPach"',
    'Did you mean "GitPatch"?',
  ),
  faulty(
    'a source tool without a committer that is not listed as cooperative',
    {
      targets: 'targets: { infra: { sourceTools: [TerraformPlan] } } # here',
      validators: 'validators: [{ pack: terraform-plan }]',
    },
    'targets.infra.sourceTools[0]',
    '"TerraformPlan" is not committed by Countersign',
    'cooperative: [TerraformPlan]',
  ),
  faulty(
    'a source tool twice',
    { targets: TARGET('sourceTools: [SQLDryRun, SQLDryRun] # here') },
    'targets.shop.sourceTools[1]',
    'Source tool "SQLDryRun" is a duplicate',
    'Keep one',
  ),
  faulty(
    'an entry for a tool that its rules do not read',
    {
      targets: TWO_TOOLS,
      validators:
        'validators:\n  - pack: http-patch\n  - pack: sql-postgres\n    sourceTools: [SQLDryRun, HTTPPatch] # here',
    },
    'validators[1].sourceTools[1]',
    'does not read diffs of "HTTPPatch"',
    'Remove it here',
  ),
  faulty(
    'a waiver for a tool that no target accepts',
    { waivers: waiver({ scope: '{ sourceTools: [SQLDryRunn] }' }) },
    'waivers[0].scope.sourceTools[0]',
    'No target accepts diffs of "SQLDryRunn"',
    'Did you mean "SQLDryRun"?',
  ),
];

const staging: readonly FaultyBundle[] = [
  faulty(
    'a misspelled setting of the dry run',
    { targets: TARGET('sourceTools: [SQLDryRun]\n    staging: { maxRehearsedRow: 5 } # here') },
    'targets.shop.staging.maxRehearsedRow',
    'Unknown key "maxRehearsedRow"',
    'Did you mean "maxRehearsedRows"?',
  ),
  faulty(
    'a setting of the dry run out of range',
    { targets: TARGET('sourceTools: [SQLDryRun]\n    staging: { statementTimeoutMs: 1 } # here') },
    'targets.shop.staging.statementTimeoutMs',
    'At least 50',
  ),
  faulty(
    'a limit of statements that no attempt to commit can use',
    { targets: TARGET('sourceTools: [SQLDryRun]\n    staging: { statementTimeoutMs: 600000 } # here') },
    'targets.shop.staging.statementTimeoutMs',
    'At most 240000',
  ),
  faulty(
    'a setting of another tool',
    { targets: TARGET('sourceTools: [SQLDryRun]\n    staging: { maxPaths: 10 } # here') },
    'targets.shop.staging.maxPaths',
    'Unknown key "maxPaths"',
    'Remove "maxPaths"',
  ),
];

const members: readonly FaultyBundle[] = [
  faulty(
    'a misspelled fact',
    { validators: condition('size(facts.statments) > 3') },
    'validators[1].condition.when',
    'SQLDryRun has no fact "statments"',
    'Did you mean "statements"?',
  ),
  faulty(
    'a fact of another tool',
    { validators: condition('size(facts.files) > 3') },
    'validators[1].condition.when',
    'SQLDryRun has no fact "files"',
    'Use one of:',
    'statements',
  ),
  faulty(
    'a fact that only one of two tools has',
    {
      targets: TWO_TOOLS,
      validators: condition('facts.method == "DELETE"').replace('  - pack: sql-postgres', BOTH_PACKS),
    },
    'validators[2].condition.when',
    'SQLDryRun has no fact "method"',
    'sourceTools: [HTTPPatch]',
    'has(facts.method)',
  ),
  faulty(
    'a test for a fact that no tool has, which is never true',
    { validators: condition('has(facts.nothing) && facts.nothing > 1') },
    'validators[1].condition.when',
    'SQLDryRun has no fact "nothing"',
    'Use one of:',
  ),
  faulty(
    'an unknown member of the diff',
    { validators: condition('diff.size > 1000') },
    'validators[1].condition.when',
    '"diff" has no member "size"',
    'Use one of: sourceTool, bytes, diffSha',
  ),
  faulty(
    'an unknown member of the dry run',
    { validators: condition('staging.row > 10', '\n      staged: true') },
    'validators[1].condition.when',
    '"staging" has no member "row"',
    'Did you mean "rows"?',
  ),
  faulty(
    'the dry run in a condition that runs before it',
    { validators: condition('staging.rows > 10') },
    'validators[1].condition.when',
    'reads "staging"',
    'staged: true',
  ),
  faulty(
    'a name that conditions do not have',
    { validators: condition('request.user == "x"') },
    'validators[1].condition.when',
    'unknown name "request"',
    'diff, metadata, facts, staging',
  ),
];

const waivers: readonly FaultyBundle[] = [
  faulty(
    'an expired waiver',
    { waivers: waiver({ expires: "'2026-11-01T00:00:00Z'" }) },
    'waivers[0].expires',
    'Waiver "ops_7" expired at 2026-11-01T00:00:00Z',
    'Remove the waiver',
  ),
  faulty(
    'a waiver that expires at the time of the check',
    { waivers: waiver({ expires: `'${CHECKED_AT}'` }) },
    'waivers[0].expires',
    'Waiver "ops_7" expired',
    'Remove the waiver',
  ),
  faulty(
    'a waiver without a time zone',
    { waivers: waiver({ expires: "'2027-01-31T00:00:00'" }) },
    'waivers[0].expires',
    'expected a time in UTC such as 2027-01-31T00:00:00Z',
  ),
  faulty(
    'a waiver of a rule that forbids',
    {
      validators: 'validators: [{ pack: sql-postgres, rules: { sql_drop: forbid } }]',
      waivers: waiver({ validatorId: 'safety.sql_drop' }),
    },
    'waivers[0].validatorId',
    '"safety.sql_drop" cannot be waived',
    'confirm',
  ),
  faulty(
    'a waiver for an unknown target',
    { waivers: waiver({ scope: '{ targets: [shop, shpo] }' }) },
    'waivers[0].scope.targets[1]',
    'Unknown target "shpo"',
    'Did you mean "shop"?',
  ),
];

const placeholders: readonly FaultyBundle[] = [
  faulty(
    'a placeholder instead of a person',
    { groups: 'groups:\n  dba: { members: [alice, "${ONCALL}"] } # here' },
    'groups.dba.members[1]',
    '"${ONCALL}" is not replaced',
    'envsubst',
  ),
  faulty(
    'a placeholder in a text',
    { waivers: waiver({ reason: 'see ${TICKET}' }) },
    'waivers[0].reason',
    '"${TICKET}" is not replaced',
  ),
  faulty(
    'a placeholder as a source tool',
    { targets: TARGET('sourceTools: ["${TOOL}"] # here') },
    'targets.shop.sourceTools[0]',
    '"${TOOL}" is not replaced',
  ),
  faulty(
    'a placeholder in a key',
    { targets: 'targets:\n  "${TARGET}": { sourceTools: [SQLDryRun] } # here' },
    'targets.${TARGET}',
    '"${TARGET}" is not replaced',
  ),
  faulty(
    'a placeholder with a default value',
    { defaultGroup: 'defaultGroup: "${GROUP:-dba}" # here' },
    'defaultGroup',
    '"${GROUP:-dba}" is not replaced',
  ),
];

const names: readonly FaultyBundle[] = [
  faulty(
    'an unknown level',
    { validators: 'validators:\n  - pack: sql-postgres\n    rules: { sql_drop: forbidden } # here' },
    'validators[0].rules.sql_drop',
    '"forbid"',
  ),
  faulty(
    'a limit without a number',
    { validators: 'validators:\n  - aggregate: { name: many, window: 1h, limits: {} } # here' },
    'validators[0].aggregate.limits',
    'expected at least one limit',
  ),
  faulty('indentation with a tab', { more: 'implicit:\n\tquorum: 1 # here' }, '', 'Tabs', 'Indent with spaces'),
];

export const FAULTY_BUNDLES: readonly FaultyBundle[] = [
  ...tools,
  ...people,
  ...staging,
  ...members,
  ...waivers,
  ...placeholders,
  ...names,
];
