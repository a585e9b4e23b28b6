import { bytesRules, type PackRule, type RuleExamples } from '../rule-maker';
import { hitsOf, metadataHits, uncheckedHits } from './hits';
import { SECRET_CATEGORIES, type SecretCategory } from './scan';
import { scannedTexts } from './texts';

const secretsRule = bytesRules('secrets', null);

/** Joins the parts of an example, so that secret scanners do not report this file. */
const joined = (...parts: readonly string[]): string => parts.join('');
export const EXAMPLE_TOKEN = joined('ghp', '_', 'Zk3Qw9xT7mN2pL5vB8rY4cD6', 'aB1cD2eF3gH4');
const ADVICE = [
  'Remove the secret from the change, read it from a secret store at run time, and revoke it: it has been exposed.',
];

/** Makes a rule that reports one category of secrets. */
function categoryRule(
  category: SecretCategory,
  options: Pick<Parameters<typeof secretsRule>[0], 'name' | 'defaultLevel' | 'why' | 'examples'>,
): PackRule {
  return secretsRule({
    ...options,
    logicRevision: 14,
    reads: ['texts'],
    advice: ADVICE,
    find: ({ tool }) => hitsOf(scannedTexts(tool.texts), [category], false),
  });
}

export const knownToken = secretsRule({
  name: 'secrets_known_token',
  logicRevision: 14,
  defaultLevel: 'forbid',
  why: 'Anyone who reads a token can use it, and a diff is read by many people and stored for a long time.',
  reads: ['texts'],
  advice: ADVICE,
  examples: {
    bad: `UPDATE settings SET value = '${EXAMPLE_TOKEN}' WHERE name = 'ci';\n`,
    good: "UPDATE settings SET value = 'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' WHERE name = 'ci';\n",
  },
  find: ({ tool }) => {
    const texts = scannedTexts(tool.texts);
    return [...hitsOf(texts, ['token'], false), ...uncheckedHits(texts)];
  },
});

const KEY = 'MC4CAQAwBQYDK2VwBCIEIEl0Zm9yVGVzdHNPbmx5Tm90QVJlYWxLZXlBdEFsbA';

export const privateKey = categoryRule('private_key', {
  name: 'secrets_private_key',
  defaultLevel: 'forbid',
  why: 'Anyone who has the private key can act as its owner.',
  examples: {
    bad: joined('-----BEGIN ', 'PRIVATE KEY-----\n', KEY, '\n-----END ', 'PRIVATE KEY-----\n'),
    good: joined('-----BEGIN ', 'PRIVATE KEY-----\n...\n-----END ', 'PRIVATE KEY-----\n'),
  },
});

export const urlCredentials = categoryRule('address', {
  name: 'secrets_url_credentials',
  defaultLevel: 'confirm',
  why: 'A password in a URL appears in every log that contains the URL.',
  examples: {
    bad: joined('postgres://app:', 'm42ploz2wd', '@db.example.com/shop\n'),
    good: 'postgres://app:${DB_PASSWORD}@db.example.com/shop\n',
  },
});

export const assignedSecret = categoryRule('assigned', {
  name: 'secrets_assigned',
  defaultLevel: 'confirm',
  why: 'A value that is assigned to a sensitive name and looks like a secret is probably one.',
  examples: {
    bad: joined("ALTER ROLE app PASSWORD '", 'tr0ub4dor&3', "';\n"),
    good: "ALTER ROLE app PASSWORD :'app_password';\n",
  },
});

export const coveredSecret = categoryRule('covered', {
  name: 'secrets_covered',
  defaultLevel: 'forbid',
  why: 'Base64, escapes or a split string literal hide a secret from reviewers but do not protect it.',
  examples: {
    bad: `const token = '${EXAMPLE_TOKEN.slice(0, 9)}' + '${EXAMPLE_TOKEN.slice(9)}';\n`,
    good: "const greeting = 'Hello, ' + 'world';\n",
  },
});

/**
 * The other rules leave the data of tests to this one, so that a bundle can waive it or raise its level. `examples` come from a
 * source tool whose diffs have files.
 */
export function testDataSecret(examples: RuleExamples): PackRule {
  return secretsRule({
    name: 'secrets_test_data',
    logicRevision: 6,
    defaultLevel: 'confirm',
    why: 'A secret in a test is usually invented, but nothing shows that it is.',
    reads: ['texts'],
    advice: ['If the value is invented, confirm or waive this finding; otherwise remove the secret and revoke it.'],
    examples,
    find: ({ tool }) => hitsOf(scannedTexts(tool.texts), SECRET_CATEGORIES, true),
  });
}

export const metadataSecret = secretsRule({
  name: 'secrets_in_metadata',
  logicRevision: 14,
  defaultLevel: 'forbid',
  why: 'Metadata is stored in the workflow history and shown in every status, to anyone who may read them.',
  reads: ['metadata'],
  advice: ADVICE,
  examples: {
    bad: 'SELECT 1;\n',
    good: 'SELECT 1;\n',
    metadata: {
      bad: { note: `deploy with ${EXAMPLE_TOKEN}` },
      good: { note: 'deploy with the token of the pipeline' },
    },
  },
  find: ({ diff }) => metadataHits(diff.metadata),
});
