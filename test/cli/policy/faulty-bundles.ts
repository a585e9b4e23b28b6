/** A bundle with one fault. The faulty line ends with the comment `# here`. */
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
    'a cooperative tool that the target does not accept',
    { targets: TARGET('sourceTools: [SQLDryRun]\n    cooperative: [SQLCAS] # here') },
    'targets.shop.cooperative[0]',
    '"SQLCAS" is not a source tool of target "shop"',
    'targets.shop.sourceTools',
  ),
  faulty(
    'a source tool twice',
    { targets: TARGET('sourceTools: [SQLDryRun, SQLDryRun] # here') },
    'targets.shop.sourceTools[1]',
    'Source tool "SQLDryRun" is a duplicate',
    'Keep one',
  ),
  faulty(
    'an entry for a tool that no target accepts',
    { validators: 'validators:\n  - pack: sql-postgres\n    sourceTools: [SQLDryRun, SQLCAS] # here' },
    'validators[0].sourceTools[1]',
    'No target accepts diffs of "SQLCAS"',
    'Use one of: SQLDryRun',
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
    'a policy for a tool that no target accepts',
    {
      policies: 'policies:\n  - key: all\n    name: All\n    match: { sourceTools: [GitPatch] } # here',
    },
    'policies[0].match.sourceTools[0]',
    'No target accepts diffs of "GitPatch"',
    'SQLDryRun',
  ),
  faulty(
    'a waiver for a tool that no target accepts',
    { waivers: waiver({ scope: '{ sourceTools: [SQLDryRunn] }' }) },
    'waivers[0].scope.sourceTools[0]',
    'No target accepts diffs of "SQLDryRunn"',
    'Did you mean "SQLDryRun"?',
  ),
  faulty(
    'a tool without any rule',
    {
      targets: TARGET('sourceTools: [SQLDryRun, HTTPPatch]'),
      validators: 'validators: [{ pack: sql-postgres }] # here',
    },
    'validators',
    'No enforced validator reads diffs of "HTTPPatch"',
    'always-approve',
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
    'a waiver of an unknown validator',
    { waivers: waiver({ validatorId: 'guardian.sql_update_without_were' }) },
    'waivers[0].validatorId',
    'Unknown validator "guardian.sql_update_without_were"',
    'Did you mean "guardian.sql_update_without_where"?',
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
    'a waiver of a built-in validator',
    { waivers: waiver({ validatorId: 'guardian.metadata_mismatch' }) },
    'waivers[0].validatorId',
    '"guardian.metadata_mismatch" cannot be waived',
    'Only findings of rules',
  ),
  faulty(
    'a waiver for an unknown target',
    { waivers: waiver({ scope: '{ targets: [shop, shpo] }' }) },
    'waivers[0].scope.targets[1]',
    'Unknown target "shpo"',
    'Did you mean "shop"?',
  ),
  faulty(
    'a waiver for every change',
    { waivers: waiver({ scope: '{}' }) },
    'waivers[0].scope',
    'expected at least one limit',
  ),
  faulty(
    'two waivers with one id',
    { waivers: `${waiver({})}\n  - ${waiver({ id: 'ops_7' }).slice('waivers:\n  - '.length)}` },
    'waivers[1].id',
    'Waiver "ops_7" is a duplicate',
    'Keep one',
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
    'an unknown pack',
    { validators: 'validators:\n  - pack: sql-postgre # here' },
    'validators[0].pack',
    'Unknown pack "sql-postgre"',
    'Did you mean "sql-postgres"?',
  ),
  faulty(
    'an unknown rule of a pack',
    { validators: 'validators:\n  - pack: sql-postgres\n    rules: { sql_dorp: forbid } # here' },
    'validators[0].rules.sql_dorp',
    'has no rule "sql_dorp"',
    'Did you mean "sql_drop"?',
  ),
  faulty(
    'an unknown level',
    { validators: 'validators:\n  - pack: sql-postgres\n    rules: { sql_drop: forbidden } # here' },
    'validators[0].rules.sql_drop',
    '"forbid"',
  ),
  faulty(
    'an unknown setting of a rule',
    {
      validators:
        'validators:\n  - pack: sql-postgres\n    rules: { sql_table_scope: { config: { allowd: [public.a] } } } # here',
    },
    'validators[0].rules.sql_table_scope.config.allowd',
    'Unknown key "allowd"',
  ),
  faulty(
    'two validators with one name',
    {
      validators:
        'validators:\n  - validator: { name: sizes, rules: [{ diffSize: { name: size, maxRows: 1 } }] }\n  - validator: { name: sizes, rules: [] } # here',
    },
    'validators[1]',
    'Duplicate validator "guardian.sizes"',
    'unique name',
  ),
  faulty(
    'a pattern that is not RE2',
    {
      validators:
        "validators:\n  - validator: { name: patterns, rules: [{ pattern: { name: p, forbidden: ['(?=x)'] } }] } # here",
    },
    'validators[0].validator.rules[0].pattern.forbidden[0]',
    '(?=',
  ),
  faulty(
    'a limit without a number',
    { validators: 'validators:\n  - aggregate: { name: many, window: 1h, limits: {} } # here' },
    'validators[0].aggregate.limits',
    'expected at least one limit',
  ),
  faulty(
    'an unknown group',
    { defaultGroup: 'defaultGroup: dbas # here' },
    'defaultGroup',
    'Unknown group "dbas"',
    'Use one of: dba',
  ),
  faulty(
    'a quorum that the group cannot reach',
    { policies: 'policies:\n  - key: all\n    name: All\n    quorum: 3\n    group: dba # here' },
    'policies[0].group',
    'Group "dba" has 2 member(s), fewer than the quorum of 3',
    'Lower the quorum',
  ),
  faulty(
    'a callback that is not registered',
    {
      policies: "policies:\n  - key: all\n    name: All\n    callback: { key: in-window, version: '1' } # here",
    },
    'policies[0].callback.key',
    'Unknown callback "in-window"',
  ),
  faulty(
    'a policy for a validator that never asks',
    {
      validators: 'validators: [{ pack: sql-postgres, rules: { sql_drop: forbid } }]',
      policies: 'policies:\n  - key: drops\n    name: Drops\n    match: { validatorIds: [safety.sql_drop] } # here',
    },
    'policies[0].match.validatorIds[0]',
    '"safety.sql_drop" cannot trigger this policy',
    'confirm',
  ),
  faulty('an unknown key', { more: 'waiver: [] # here' }, 'waiver', 'Unknown key "waiver"', 'Did you mean "waivers"?'),
  faulty('a key twice', { more: 'defaultGroup: dba # here' }, '', 'unique', 'Keep one of the two'),
  faulty('indentation with a tab', { more: 'implicit:\n\tquorum: 1 # here' }, '', 'Tabs', 'Indent with spaces'),
];

export const FAULTY_BUNDLES: readonly FaultyBundle[] = [
  ...tools,
  ...staging,
  ...members,
  ...waivers,
  ...placeholders,
  ...names,
];
