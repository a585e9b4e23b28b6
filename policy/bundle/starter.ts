export interface StarterOptions {
  /** Name of the target. Default `dev`. */
  readonly target?: string;
  /** Persons who answer. Default: those of the embedded environment. */
  readonly members?: readonly string[];
  /** Whether the target takes demo keys. Default true, as for the embedded environment; never for production. */
  readonly development?: boolean;
}

/**
 * A bundle's text for the diffs of one source tool, strict enough to be used as it is: what no rule of ours reads is
 * shown to a person, each and every time. Compiles against the registry of this version (a test does).
 */
export function starterBundle(sourceTool: string, options: StarterOptions = {}): string {
  const { target = 'dev', members = ['alice', 'bob'], development = true } = options;
  return [
    `# Who must countersign the changes of AI agents. Check it with \`countersign policy check\`.`,
    'version: 1',
    `name: ${text(`${sourceTool} starter`)}`,
    'domain: global',
    '# Provider and model of the judge; "none" without one.',
    'provider: none',
    'model: none',
    '',
    'targets:',
    `  ${text(target)}:`,
    `    development: ${development}${development ? ' # accepts demo keys; false for production' : ''}`,
    `    sourceTools: [${text(sourceTool)}]`,
    ...(REVIEWED_ONLY.has(sourceTool)
      ? [
          `    # Nothing of ours performs it: the requester does, on a signed receipt.`,
          `    cooperative: [${text(sourceTool)}]`,
        ]
      : []),
    '',
    'groups:',
    `  owners: { members: [${members.map(text).join(', ')}] }`,
    'defaultGroup: owners',
    '',
    '# Levels: forbid = rolled back, nobody asked; confirm = a person answers; advise = shown; shadow = reported for tuning.',
    'validators:',
    ...(STARTERS[sourceTool] ?? ASK_ALWAYS),
    '',
    'deadline: 24h # not answered by then: rolled back',
    'commitWindow: 15m',
    'autoResolve: warnOnly',
    '',
  ].join('\n');
}

/** As YAML reads it back, whatever is in it. */
function text(value: string): string {
  return JSON.stringify(value);
}

/** Tools whose diffs rules read, and whose effect the requester performs itself. */
const REVIEWED_ONLY: ReadonlySet<string> = new Set(['TerraformPlan']);

const SECRETS = ['  # Keys and passwords, in the change and in its metadata.', '  - pack: secrets'];
const TEXT = ['  # Characters that make text look other than it is.', '  - pack: text'];
const CROSS = ['  # Digest, size, and words addressed to a reviewer.', '  - pack: cross-cutting'];

/** What one agent may delete in an hour, in however many changes. */
const manySmall = (deletions: number): readonly string[] => [
  '  # Many small changes of one agent that come to a large one.',
  `  - aggregate: { name: many_small_deletes, window: 1h, by: [agent, target], limits: { deletions: ${deletions} } }`,
];

const SQL_DRY_RUN = [
  '  - pack: sql-postgres',
  '    rules:',
  '      # SQL that is put together at run time cannot be read beforehand.',
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
  '        # Warns, and so asks a person, where the agent does not say how many rows it changes.',
  '        - diffSize: { name: rows, maxRows: 100 }',
  '  - pack: sql-postgres',
  '    rules:',
  '      # The rows that the dry run really touched.',
  '      sql_affected_rows: { config: { maxRows: 100 } }',
  ...SECRETS,
  ...TEXT,
  ...CROSS,
  ...manySmall(100),
];

const HTTP_PATCH = [
  '  - pack: http-patch',
  '    rules:',
  '      # Name the interfaces that agents may call; until then a person sees every request.',
  '      http_method_path_scope: { level: confirm, config: { allow: [] } }',
  ...SECRETS,
  ...TEXT,
  ...CROSS,
  ...manySmall(20),
];

/** Odd characters are a rule of the pack itself. */
const GIT_PATCH = ['  - pack: git-diff', ...SECRETS, ...CROSS, ...manySmall(20)];

const TERRAFORM_PLAN = [
  '  - pack: terraform-plan',
  '  # A plan shows values, the secret ones too: a person decides whether they may stand there.',
  '  - pack: secrets',
  '    level: confirm',
  ...TEXT,
  '  # Terraform writes a plan as one line.',
  '  - pack: cross-cutting',
  '    rules:',
  '      cross_oversized: { config: { maxBytes: 1048576, maxLine: 1048576 } }',
  ...manySmall(20),
];

/** For every other tool: nothing passes unseen until there are rules that read it. */
const ASK_ALWAYS = [
  '  - validator:',
  '      name: ask_always',
  '      rules:',
  '        # Matches every diff, so that a person sees each one. Replace it by rules of your own.',
  '        - pattern: { name: anything, forbidden: ["(?s)."] }',
  ...SECRETS,
  ...TEXT,
];

const STARTERS: Readonly<Record<string, readonly string[]>> = {
  SQLDryRun: SQL_DRY_RUN,
  SQLCAS: SQL_CAS,
  HTTPPatch: HTTP_PATCH,
  GitPatch: GIT_PATCH,
  TerraformPlan: TERRAFORM_PLAN,
};
