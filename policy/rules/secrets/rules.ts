import { bytesRules, noConfig, type PackRule } from '../rule-maker';
import { hitsOf, metadataHits, uncheckedHits } from './hits';
import type { Way } from './scan';
import { scannedTexts } from './texts';

/** How a rule of the pack is made, for tools that add rules of their own to it. */
export const secretsRule = bytesRules('secrets', null);

/** Examples are put together, so that scanners of this repository stay quiet. */
const joined = (...parts: readonly string[]): string => parts.join('');
export const EXAMPLE_TOKEN = joined('ghp', '_', 'Zk3Qw9xT7mN2pL5vB8rY4cD6', 'aB1cD2eF3gH4');
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
    reads: ['texts'],
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
  reads: ['texts'],
  advice: ADVICE,
  examples: {
    bad: `UPDATE settings SET value = '${EXAMPLE_TOKEN}' WHERE name = 'ci';\n`,
    good: "UPDATE settings SET value = 'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' WHERE name = 'ci';\n",
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
  },
});

export const urlCredentials = wayRule('address', {
  name: 'secrets_url_credentials',
  defaultLevel: 'forbid',
  why: 'A password in an address lands in every log that the address lands in.',
  examples: {
    bad: joined('postgres://app:', 'm42ploz2wd', '@db.example.com/shop\n'),
    good: 'postgres://app:${DB_PASSWORD}@db.example.com/shop\n',
  },
});

export const assignedSecret = wayRule('assigned', {
  name: 'secrets_assigned',
  defaultLevel: 'confirm',
  why: 'What is assigned to a password, and looks like one, is one.',
  examples: {
    bad: joined("ALTER ROLE app PASSWORD '", 'tr0ub4dor&3', "';\n"),
    good: "ALTER ROLE app PASSWORD :'app_password';\n",
  },
});

export const coveredSecret = wayRule('covered', {
  name: 'secrets_covered',
  defaultLevel: 'forbid',
  why: 'Base64, or a literal in two pieces, hides a secret from people only.',
  examples: {
    bad: `const token = '${EXAMPLE_TOKEN.slice(0, 9)}' + '${EXAMPLE_TOKEN.slice(9)}';\n`,
    good: "const greeting = 'Hello, ' + 'world';\n",
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
    metadata: {
      bad: { note: `deploy with ${EXAMPLE_TOKEN}` },
      good: { note: 'deploy with the token of the pipeline' },
    },
  },
  find: ({ diff }) => metadataHits(diff.metadata),
});
