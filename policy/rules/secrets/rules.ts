import { z } from 'zod';
import { coveringGlob, pathName } from '../../text/glob';
import { bytesRules, factsRules, noConfig, type PackRule } from '../rule-maker';
import type { GitPatchFacts } from '../../../source-tools/git/facts/git-facts';
import { GIT_FACTS_REVISION, GIT_PARSER } from '../../../source-tools/git/facts/git-parser';
import { hitsOf, metadataHits, uncheckedHits } from './hits';
import type { Way } from './scan';
import { scannedTexts } from './texts';

/** Of a patch the added lines are read, as its extractor tells them: so its revision is part of every rule's `logic_hash`. */
const secretsRule = bytesRules('secrets', { name: 'countersign-secrets', version: `git-facts.${GIT_FACTS_REVISION}` });
const patchRule = factsRules<GitPatchFacts>({
  pack: 'secrets',
  kind: 'git-patch',
  sourceTools: ['GitPatch'],
  parser: GIT_PARSER,
});

/** Examples are put together, so that scanners of this repository stay quiet. */
const joined = (...parts: readonly string[]): string => parts.join('');
const TOKEN = joined('ghp', '_', 'Zk3Qw9xT7mN2pL5vB8rY4cD6', 'aB1cD2eF3gH4');
const ADVICE = [
  'Take the secret out, read it where it runs from the place that keeps secrets, and revoke this one: it has been written down.',
];

/** A rule for what is told in one way. */
function wayRule(
  way: Way,
  options: Pick<Parameters<typeof secretsRule>[0], 'name' | 'defaultLevel' | 'why' | 'examples'>,
): PackRule {
  return secretsRule({
    ...options,
    logicRevision: 7,
    config: noConfig,
    advice: ADVICE,
    find: (input) => hitsOf(scannedTexts(input), way),
  });
}

export const knownToken = secretsRule({
  name: 'secrets_known_token',
  logicRevision: 7,
  defaultLevel: 'forbid',
  why: 'A token works for whoever reads it, and a diff is read by many and kept for long.',
  config: noConfig,
  advice: ADVICE,
  examples: {
    bad: `UPDATE settings SET value = '${TOKEN}' WHERE name = 'ci';\n`,
    good: "UPDATE settings SET value = 'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' WHERE name = 'ci';\n",
    sourceTool: 'SQLDryRun',
  },
  find: (input) => {
    const texts = scannedTexts(input);
    return [...hitsOf(texts, 'token'), ...uncheckedHits(texts)];
  },
});

const KEY = 'MC4CAQAwBQYDK2VwBCIEIEl0Zm9yVGVzdHNPbmx5Tm90QVJlYWxLZXlBdEFsbA';

export const privateKey = wayRule('private_key', {
  name: 'secrets_private_key',
  defaultLevel: 'forbid',
  why: 'Whoever has the private key is its owner.',
  examples: {
    bad: joined('-----BEGIN ', 'PRIVATE KEY-----\n', KEY, '\n-----END ', 'PRIVATE KEY-----\n'),
    good: joined('-----BEGIN ', 'PRIVATE KEY-----\n...\n-----END ', 'PRIVATE KEY-----\n'),
    sourceTool: 'SQLDryRun',
  },
});

export const urlCredentials = wayRule('address', {
  name: 'secrets_url_credentials',
  defaultLevel: 'forbid',
  why: 'A password in an address lands in every log that the address lands in.',
  examples: {
    bad: joined('postgres://app:', 'm42ploz2wd', '@db.example.com/shop\n'),
    good: 'postgres://app:${DB_PASSWORD}@db.example.com/shop\n',
    sourceTool: 'SQLDryRun',
  },
});

export const assignedSecret = wayRule('assigned', {
  name: 'secrets_assigned',
  defaultLevel: 'confirm',
  why: 'What is assigned to a password, and looks like one, is one.',
  examples: {
    bad: joined("ALTER ROLE app PASSWORD '", 'tr0ub4dor&3', "';\n"),
    good: "ALTER ROLE app PASSWORD :'app_password';\n",
    sourceTool: 'SQLDryRun',
  },
});

export const coveredSecret = wayRule('covered', {
  name: 'secrets_covered',
  defaultLevel: 'forbid',
  why: 'Base64, or a literal in two pieces, hides a secret from people only.',
  examples: {
    bad: `const token = '${TOKEN.slice(0, 9)}' + '${TOKEN.slice(9)}';\n`,
    good: "const greeting = 'Hello, ' + 'world';\n",
    sourceTool: 'SQLDryRun',
  },
});

export const metadataSecret = secretsRule({
  name: 'secrets_in_metadata',
  logicRevision: 7,
  defaultLevel: 'forbid',
  why: 'Metadata stands in the workflow history and in every status, for whoever may read them.',
  config: noConfig,
  reads: ['metadata'],
  advice: ADVICE,
  examples: {
    bad: 'SELECT 1;\n',
    good: 'SELECT 1;\n',
    sourceTool: 'SQLDryRun',
    metadata: { bad: { note: `deploy with ${TOKEN}` }, good: { note: 'deploy with the token of the pipeline' } },
  },
  find: ({ diff }) => metadataHits(diff.metadata),
});

const patch = (lines: readonly string[]): string =>
  `${['diff --git a/app.env b/app.env', 'index 1f9d725..8c3482d 100644', '--- a/app.env', '+++ b/app.env', '@@ -1 +1 @@', ...lines].join('\n')}\n`;

export const removedSecret = secretsRule({
  name: 'secrets_removed',
  logicRevision: 7,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'A secret that is taken out stays in the history: it must be revoked.',
  config: noConfig,
  sourceTools: ['GitPatch'],
  advice: ['Revoke it: who has the repository has it.'],
  examples: {
    bad: patch([`-CI_VALUE=${TOKEN}`, '+CI_VALUE=$CI_VALUE']),
    good: patch(['-CI_VALUE=1', '+CI_VALUE=$CI_VALUE']),
    sourceTool: 'GitPatch',
  },
  find: (input) => {
    const texts = scannedTexts(input);
    return (['token', 'private_key', 'address', 'assigned'] as const).flatMap((way) => hitsOf(texts, way, 'removed'));
  },
});

const KEY_FILES = [
  '**/*.p12',
  '**/*.pfx',
  '**/*.jks',
  '**/*.keystore',
  '**/*.kdbx',
  '**/*.ppk',
  '**/id_rsa',
  '**/id_dsa',
  '**/id_ecdsa',
  '**/id_ed25519',
  '**/.env',
  '**/.env.local',
  '**/.env.production',
  '**/.netrc',
  '**/.pgpass',
  '**/.htpasswd',
  '**/.git-credentials',
  '**/.docker/config.json',
  '**/.aws/credentials',
  '**/.kube/config',
  '**/terraform.tfstate',
];

export const keyFile = patchRule({
  name: 'secrets_key_file',
  logicRevision: 7,
  defaultLevel: 'confirm',
  why: 'Files of these names hold keys or passwords, and a binary one shows nothing of it.',
  config: z.strictObject({
    paths: z.array(z.string().min(1).max(500)).max(200).default(KEY_FILES).describe('Globs of names, in any case.'),
  }),
  examples: {
    bad: 'diff --git a/deploy/.env b/deploy/.env\nnew file mode 100644\nindex 0000000..8c3482d\n--- /dev/null\n+++ b/deploy/.env\n@@ -0,0 +1 @@\n+PORT=80\n',
    good: 'diff --git a/deploy/.env.example b/deploy/.env.example\nnew file mode 100644\nindex 0000000..8c3482d\n--- /dev/null\n+++ b/deploy/.env.example\n@@ -0,0 +1 @@\n+PORT=80\n',
    sourceTool: 'GitPatch',
  },
  find: ({ files }, { paths }) =>
    files
      .filter((file) => file.newPath !== null && coveringGlob(paths, pathName(file.newPath)) !== undefined)
      .map((file) => ({ at: file.header, what: 'a file whose name is one of keys and passwords' })),
});
