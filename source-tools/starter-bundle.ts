export interface StarterOptions {
  /** Names of the targets. Default `dev`. */
  readonly targets?: readonly string[];
  /** Ids of the people who answer. Default: those of the embedded environment. */
  readonly members?: readonly string[];
  /** Whether the target accepts demo keys. Default true, for the embedded environment; never for production. */
  readonly development?: boolean;
  /** For HTTPPatch: hosts that agents may call, in lower case; `*.host` for all subdomains. Default: `api.example.com`. */
  readonly hosts?: readonly string[];
  /** Whether the requester applies the change itself. Default: true for the built-in tools that only review. */
  readonly cooperative?: boolean;
}

/**
 * The text of a starter bundle for one source tool, strict enough to be used unchanged: a person sees every diff that no
 * built-in rule reads. Compiles against the registry of this version.
 */
export function starterBundle(sourceTool: string, options: StarterOptions = {}): string {
  const { targets = ['dev'], members = ['alice', 'bob'], development = true, hosts = ['api.example.com'] } = options;
  const { cooperative = REVIEWED_ONLY.has(sourceTool) } = options;
  return [
    `# Rules for changes of AI agents and who must countersign them. Check this file with \`countersign policy check\`.`,
    'version: 1',
    `name: ${text(`${sourceTool} starter`)}`,
    'domain: global',
    '# Provider and model of the judge; "none" without one.',
    'provider: none',
    'model: none',
    '',
    'targets:',
    ...targets.flatMap((target) => [
      `  ${text(target)}:`,
      `    development: ${development}${development ? ' # accepts demo keys; false for production' : ''}`,
      `    sourceTools: [${text(sourceTool)}]`,
      ...(cooperative
        ? [
            `    # The requester applies the change itself after it receives a signed receipt.`,
            `    cooperative: [${text(sourceTool)}]`,
          ]
        : []),
    ]),
    '',
    'groups:',
    `  owners: { members: [${members.map(text).join(', ')}] }`,
    'defaultGroup: owners',
    '',
    '# Levels: forbid = roll back without asking; confirm = a person answers; advise = show; shadow = report for tuning.',
    'validators:',
    ...(sourceTool === 'HTTPPatch' ? httpPatch(hosts) : (STARTERS.get(sourceTool) ?? ASK_ALWAYS)),
    '',
    'deadline: 24h # without an answer the change is rolled back',
    'commitWindow: 15m',
    'autoResolve: warnOnly',
    '',
  ].join('\n');
}

/** A YAML scalar for any string: JSON strings are valid YAML. */
function text(value: string): string {
  return JSON.stringify(value);
}

/** Tools without a built-in effect: rules read their diffs, and the requester applies them. */
const REVIEWED_ONLY: ReadonlySet<string> = new Set(['TerraformPlan']);

const SECRETS = ['  # Keys and passwords, in the change and in its metadata.', '  - pack: secrets'];
const TEXT = ['  # Characters that make text look different from what it is.', '  - pack: text'];
const CROSS = ['  # Digest, size, and text addressed to a reviewer.', '  - pack: cross-cutting'];

/** A limit on the deletions of one agent in an hour, over all its changes. */
const manySmall = (deletions: number): readonly string[] => [
  '  # Many small changes of one agent that add up to a large one.',
  `  - aggregate: { name: many_small_deletes, window: 1h, by: [agent, target], limits: { deletions: ${deletions} } }`,
];

const SQL_DRY_RUN = [
  '  - pack: sql-postgres',
  '    rules:',
  '      # The kinds of statements that may commit without a question. A person answers for every other one, and for',
  '      # every clause and function whose effects are not known.',
  '      sql_statement_not_allowed: { config: { kinds: [SELECT, INSERT, UPDATE, DELETE] } }',
  '      # The tables that agents may use; a person answers for every other one. Name yours, such as public.orders.',
  "      sql_table_scope: { level: confirm, config: { allow: ['public.*'] } }",
  '      # Rows that a change may touch without naming them by a key and without declaring their number.',
  '      sql_affected_rows: { config: { maxUnclaimedRows: 1 } }',
  '      # SQL that is assembled at run time cannot be checked beforehand.',
  '      sql_dynamic_sql: forbid',
  ...SECRETS,
  ...TEXT,
  ...CROSS,
  ...manySmall(20),
];

const SQL_CAS = [
  '  - validator:',
  '      name: row_limit',
  '      rules:',
  '        # Warns, and so asks a person, if the agent does not say how many rows it changes.',
  '        - diffSize: { name: rows, maxRows: 100 }',
  '  - pack: sql-postgres',
  '    rules:',
  '      # The rows that the dry run changed.',
  '      sql_affected_rows: { config: { maxRows: 100 } }',
  ...SECRETS,
  ...TEXT,
  ...CROSS,
  ...manySmall(100),
];

function httpPatch(hosts: readonly string[]): readonly string[] {
  const named = `[${hosts.map(text).join(', ')}]`;
  return [
    '  - pack: http-patch',
    '    rules:',
    '      # A person sees every request to another host. Of these hosts, only reads, and changes of members that describe',
    '      # one resource, such as title and note, pass without a question. List what your agents often do in requests:',
    "      # requests: [{ methods: [PATCH], paths: ['/v1/tickets/{id}'], fields: [/state, /assignee] }]",
    `      http_unlisted_request: { config: { hosts: ${named} } }`,
    '      # A named host may be internal.',
    `      http_private_target: { config: { allowHosts: ${named} } }`,
    `      http_private_link: { config: { allowHosts: ${named} } }`,
    '      # The committer compares the resource with the staged state, and sends If-Match and Idempotency-Key itself.',
    '      http_test_required: advise',
    '      http_idempotency_key: advise',
    ...SECRETS,
    ...TEXT,
    ...CROSS,
    ...manySmall(20),
  ];
}

/** Without the pack `text`: the pack `git-diff` has its own rule for suspicious characters. */
const GIT_PATCH = [
  '  # A person sees each file that is not of a listed kind, such as settings and scripts. List files that change often here:',
  "  # rules: { git_unlisted_file: { config: { files: ['site/data/*.json'] } } }",
  '  - pack: git-diff',
  ...SECRETS,
  ...CROSS,
  ...manySmall(20),
];

const TERRAFORM_PLAN = [
  '  - pack: terraform-plan',
  '  # A plan contains values, including secret ones: a person decides whether they may be there.',
  '  - pack: secrets',
  '    rules:',
  '      secrets_known_token: confirm',
  '      secrets_private_key: confirm',
  '      secrets_covered: confirm',
  '      secrets_in_metadata: confirm',
  ...TEXT,
  '  # Terraform writes a plan as one line.',
  '  - pack: cross-cutting',
  '    rules:',
  '      cross_oversized: { config: { maxBytes: 1048576 } }',
  ...manySmall(20),
];

/** For every other tool: a person sees each diff until there are rules that read it. */
const ASK_ALWAYS = [
  '  - validator:',
  '      name: ask_always',
  '      rules:',
  '        # Matches every diff, so that a person sees each one. Replace it with your own rules.',
  '        - pattern: { name: anything, forbidden: ["(?s)."] }',
  ...SECRETS,
  ...TEXT,
];

const STARTERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['SQLDryRun', SQL_DRY_RUN],
  ['SQLCAS', SQL_CAS],
  ['GitPatch', GIT_PATCH],
  ['TerraformPlan', TERRAFORM_PLAN],
]);
