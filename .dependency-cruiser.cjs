/**
 * Which folder may import what. The one place that says so: `npm run check` counts what does not follow it.
 *
 * `imports` names folders, each of them above its own row in this table, so no arrow can point up.
 * `packages` and `node` name npm packages and Node's built-in modules; `ANY` allows all of them.
 */
const ANY = null;
const HASHES = ['@noble/hashes', '@noble/curves', '@scure/base'];
const RULE_ENGINES = ['re2js', '@bufbuild/cel', '@bufbuild/protobuf'];

// Runs in the workflow sandbox.
const SANDBOXED = ['policy/contracts', 'policy/text', 'policy/decide'];
const POLICY = [...SANDBOXED, 'policy/rules', 'policy/validators', 'policy/evidence', 'policy/judge', 'policy/bundle'];
const SERVER = [...POLICY, 'signing', 'storage', 'source-tools', 'activities'];

const FOLDERS = [
  { folder: 'policy/contracts', imports: [], packages: ['zod', ...HASHES], node: [] },
  { folder: 'policy/text', imports: ['policy/contracts'], packages: ['re2js'], node: [] },
  { folder: 'policy/decide', imports: ['policy/contracts', 'policy/text'], packages: ['zod'], node: [] },
  { folder: 'policy/rules', imports: SANDBOXED, packages: ['zod', ...RULE_ENGINES], node: [] },
  { folder: 'policy/validators', imports: [...SANDBOXED, 'policy/rules'], packages: ['zod', 're2js'], node: [] },
  { folder: 'policy/evidence', imports: [...SANDBOXED, 'policy/rules'], packages: ['zod', ...HASHES], node: [] },
  {
    folder: 'policy/judge',
    imports: [...SANDBOXED, 'policy/rules', 'policy/evidence'],
    packages: ['zod', ...HASHES],
    node: [],
  },
  { folder: 'policy/bundle', imports: POLICY.slice(0, -1), packages: ['zod', 'yaml'], node: [] },
  { folder: 'signing', imports: POLICY, packages: ['zod', ...HASHES], node: ['crypto', 'fs', 'path'] },
  { folder: 'storage', imports: [...POLICY, 'signing'], packages: ['zod', 'pg'], node: ['crypto'] },
  {
    folder: 'source-tools',
    imports: [...POLICY, 'signing', 'storage'],
    packages: ['zod', 'libpg-query', 'pg'],
    node: ANY,
  },
  {
    folder: 'activities',
    imports: [...POLICY, 'signing', 'storage', 'source-tools'],
    packages: ['zod', 'openai', '@temporalio/activity', '@temporalio/common', '@temporalio/worker'],
    node: ['crypto', 'timers/promises', 'worker_threads'],
  },
  // Of activities the types only, which oxlint checks.
  {
    folder: 'workflows',
    imports: [...SANDBOXED, 'activities'],
    packages: ['zod', '@scure/base', '@temporalio/workflow', '@temporalio/common'],
    node: [],
  },
  {
    folder: 'client',
    imports: [...SANDBOXED, 'policy/evidence', 'signing'],
    packages: ['zod', ...HASHES, '@opentelemetry/api', '@temporalio/client', '@temporalio/common'],
    node: ['crypto', 'timers/promises'],
  },
  {
    folder: 'gateway',
    imports: [...POLICY, 'signing', 'storage', 'client'],
    packages: ['zod', ...HASHES, 'hono', '@hono/node-server', 'prom-client', '@simplewebauthn/server'],
    node: ['crypto', 'timers/promises'],
  },
  // Runs in browsers.
  {
    folder: 'gateway/inbox/page',
    imports: [...POLICY, 'signing', 'source-tools', 'client', 'gateway/inbox/api.ts'],
    packages: ['preact', 'zod', ...HASHES],
    node: [],
  },
  {
    folder: 'workers',
    imports: [...SERVER, 'workflows', 'client', 'gateway'],
    packages: [
      'zod',
      'pino',
      'nodemailer',
      'hono',
      '@hono/node-server',
      '@opentelemetry/api',
      ...['activity', 'client', 'common', 'envconfig', 'proto', 'worker'].map((name) => `@temporalio/${name}`),
    ],
    node: ANY,
  },
  // Only what it opens a connection for: bounded requests to a model's server.
  {
    folder: 'compat',
    imports: [...POLICY, 'activities/judge/model-client.ts'],
    packages: ['zod', 'openai'],
    node: [],
  },
  { folder: 'dev', imports: [...SERVER, 'client', 'gateway', 'workers'], packages: ANY, node: ANY },
  {
    folder: 'cli',
    imports: [...SERVER, 'client', 'workers', 'dev'],
    packages: ['zod', 'commander', 'cli-table3', '@temporalio/client', '@temporalio/common'],
    node: ANY,
  },
  {
    folder: 'examples',
    imports: [...SERVER, 'workflows', 'client', 'workers', 'dev', 'cli'],
    packages: ANY,
    node: ANY,
  },
  {
    folder: 'bench',
    imports: [...SERVER, 'workflows', 'client', 'gateway', 'workers', 'dev', 'examples/demo/scripted-judge.ts'],
    packages: ANY,
    node: ANY,
  },
  {
    folder: 'chaos',
    imports: [...SERVER, 'client', 'workers', 'dev', 'examples/demo/scripted-judge.ts', 'bench'],
    packages: ANY,
    node: ANY,
  },
];
const UNCHECKED = ['scripts', 'test'];

const inside = (folders) => `^(${folders.map((folder) => folder.replace('.', '\\.')).join('|')})(/|$)`;
const everyFolder = inside([...FOLDERS.map(({ folder }) => folder.split('/')[0]), ...UNCHECKED]);

const error = (name, comment, from, to) => ({ name, severity: 'error', comment, from, to });

function ofFolder({ folder, imports, packages, node }, row) {
  const below = new Set(FOLDERS.slice(0, row).map((each) => each.folder));
  const up = imports.find((each) => ![...below].some((lower) => each === lower || each.startsWith(`${lower}/`)));
  if (up !== undefined) throw new Error(`${folder} may not import ${up}: its row must come first`);
  const nested = FOLDERS.map((each) => each.folder).filter((each) => each.startsWith(`${folder}/`));
  const from = { path: inside([folder]), ...(nested.length === 0 ? {} : { pathNot: inside(nested) }) };
  return [
    error(`arrow from ${folder}`, `${folder} may import ${imports.join(', ') || 'nothing'}`, from, {
      path: everyFolder,
      pathNot: inside([folder, ...imports]),
    }),
    ...(packages === ANY
      ? []
      : [
          error(`package in ${folder}`, `${folder} may use ${packages.join(', ')}`, from, {
            path: 'node_modules/',
            pathNot: `node_modules/(${packages.join('|')})/`,
          }),
        ]),
    ...(node === ANY
      ? []
      : [
          error(
            `package in ${folder}: of Node`,
            `${folder} may use ${node.join(', ') || 'none'} of Node's modules`,
            from,
            {
              dependencyTypes: ['core'],
              ...(node.length === 0 ? {} : { pathNot: `^(${node.join('|')})$` }),
            },
          ),
        ]),
  ];
}

module.exports = {
  forbidden: [
    error('circle', 'No file may import itself through others, with type imports counted', {}, { circular: true }),
    ...FOLDERS.flatMap(ofFolder),
    error(
      'arrow from cli: only the command "dev" loads development code',
      'Every other command also runs against production servers',
      { path: '^cli/', pathNot: '^cli/servers/dev\\.ts$' },
      { path: '^dev/' },
    ),
    error(
      'arrow from cli: the command "dev" is loaded lazily',
      'It loads the development code: use await import()',
      { path: '^cli/' },
      { path: '^cli/servers/dev\\.ts$', dependencyTypesNot: ['dynamic-import'] },
    ),
    error(
      'arrow from a format: facts know no rules',
      'Rules read facts, never the reverse: move what both need to facts/',
      { path: '^source-tools/[^/]+/facts[/.]' },
      { path: '^source-tools/[^/]+/rules[/.]' },
    ),
    error(
      'arrow from a format: only the committer stages',
      'Facts, rules and renderers of a source tool are pure: they never load its staging',
      { path: '^source-tools/[^/]+/(facts|rules|render)[/.]' },
      { path: '^source-tools/[^/]+/staging/' },
    ),
    error(
      'arrow from a source tool: staging is loaded lazily',
      'Only the committer calls `staging`, and review and judge workers never load it: use await import()',
      { path: '^source-tools/', pathNot: '^source-tools/[^/]+/(staging/|(facts|rules|render)[/.])' },
      { path: '^source-tools/[^/]+/staging/', dependencyTypesNot: ['dynamic-import'] },
    ),
    error(
      'package in a format: reads bytes only',
      'Facts and rules are pure: of Node they use hashes and decompression only',
      { path: '^source-tools/[^/]+/(facts|rules|render)[/.]' },
      { dependencyTypes: ['core'], pathNot: '^(crypto|zlib)$' },
    ),
    error(
      'package in a format: reads no database',
      'Facts and rules are pure: they open no connection',
      { path: '^source-tools/[^/]+/(facts|rules|render)[/.]' },
      { path: 'node_modules/pg/' },
    ),
    error('arrow to nowhere', 'The import cannot be resolved', {}, { couldNotResolve: true }),
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // Its swc parser does not read TSX: scripts/check-sources.mjs checks those files.
    exclude: { path: '^client/dist/|\\.tsx$' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['require', 'node', 'default'],
      extensions: ['.ts', '.js', '.cjs', '.mjs', '.json'],
    },
  },
};
