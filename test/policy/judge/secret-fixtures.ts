/** Fake secrets of many kinds, each inside a text as it would be staged. Concatenated, so that secret scanners ignore them. */
export interface SecretFixture {
  readonly id: string;
  readonly text: string;
  readonly secret: string;
}

const r = (...parts: string[]): string => parts.join('');
const body = 'Zk3Qw9xT7mN2pL5vB8rY4cD6';

function fixture(id: string, secret: string, around: (secret: string) => string): SecretFixture {
  return { id, secret, text: around(secret) };
}

const set = (column: string) => (secret: string) => `UPDATE settings SET ${column} = '${secret}' WHERE id = 1;`;
const pemBody = 'MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn1\nygWyF8PbnGy0AHB7MhgwMbRvI0MBZ2Lq';
const pem = (lines: string): string =>
  r('-----BEGIN RSA ', `PRIVATE KEY-----\n${lines}\n-----END RSA `, 'PRIVATE KEY-----');

export const SECRETS: readonly SecretFixture[] = [
  fixture('an AWS key id', r('AKIA', 'IOSFODNN7ABCDEFG'), set('value')),
  fixture(
    'an AWS secret by its name',
    r('wJalrXUtnFEMI/K7MDENG/', 'bPxRfiCYEXAMPLEKEY'),
    (s) => `aws_secret_access_key = ${s}\n`,
  ),
  fixture('an AWS secret alone', r('wJalrXUtnFEMI/K7MDENG/', 'bPxRfiCYzZ9qLwKeY1'), set('value')),
  fixture('a GitHub token', r('ghp_', body, 'aB1cD2eF3gH4'), set('value')),
  fixture('a fine-grained GitHub token', r('github_pat_11ABCDE', body, '_', body), set('value')),
  fixture('a GitLab token', r('glpat-', body), set('value')),
  fixture('a Slack token', r('xoxb-', '123456789012-', body), set('value')),
  fixture('a Stripe key', r('sk_live_', body), set('value')),
  fixture('a Stripe test key', r('sk_test_', body), set('value')),
  fixture('an OpenAI key', r('sk-proj-', body, body), set('value')),
  fixture('an Anthropic key', r('sk-ant-api03-', body, body), set('value')),
  fixture('a Google key', r('AIza', 'SyD', body, '9aBcDeF1'), set('value')),
  fixture('an npm token', r('npm_', body, 'aB1cD2eF3gH4'), set('value')),
  fixture('a Hugging Face token', r('hf_', body, 'aBcDeF'), set('value')),
  fixture('a SendGrid key', r('SG.', body, '.', body, body), set('value')),
  fixture(
    'a JWT',
    r('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0NTY3ODkwIn0.', 'dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'),
    set('value'),
  ),
  fixture(
    'a bearer header',
    r('eyJhbGciOi', 'JIUzI1NiJ9.e30.Zk3Qw9xT7mN2pL5vB8rY4cD6aaaa'),
    (s) => `curl -H 'Authorization: Bearer ${s}' https://example.com`,
  ),
  fixture('a bearer that is not a JWT', body, (s) => `"Authorization": "Bearer ${s}"`),
  fixture('a private key', pemBody, (s) => `INSERT INTO keys VALUES ('${pem(s)}');`),
  fixture('a private key cut off', 'MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn1', (s) =>
    r('-----BEGIN ', `PRIVATE KEY-----\n${s}\n`),
  ),
  fixture(
    'a database address',
    'hunter2-really',
    (s) => `dblink_connect('postgresql://admin:${s}@db.internal:5432/shop')`,
  ),
  fixture('basic credentials in an address', 'd3adb33f', (s) => `url = https://cafeb4b3:${s}@enterprise.example.com/`),
  fixture('a password column', 'correct horse battery', set('password')),
  fixture('a short password', 'zyxw', set('password')),
  fixture('a role password', 'Tr0ub4dor', (s) => `CREATE ROLE app LOGIN PASSWORD '${s}';`),
  fixture('an altered role', 'Tr0ub4dor&3', (s) => `ALTER USER app WITH ENCRYPTED PASSWORD '${s}';`),
  fixture('an escape string', 'Tr0ub4dor&3', (s) => `ALTER USER app PASSWORD E'${s}';`),
  fixture('a JSON member', 'p4ssw0rd-here', (s) => `{"db": {"password": "${s}"}}`),
  fixture('a JSON member in camel case', 'p4ssw0rd-here', (s) => `{"clientSecret":"${s}"}`),
  fixture('an environment line', 'p4ssw0rd-here', (s) => `DB_PASSWORD=${s}\nNEXT=1`),
  fixture('a YAML line', 'p4ssw0rd-here', (s) => `+  api_key: ${s}\n`),
  fixture('a Go assignment', 'p4ssw0rd-here', (s) => `apiKey := "${s}"`),
  fixture('a Ruby hash', 'p4ssw0rd-here', (s) => `:secret => '${s}'`),
  fixture('a function argument', 'p4ssw0rd-here', (s) => `set_password('${s}')`),
  fixture(
    'the same password later, alone',
    'p4ssw0rd-here',
    (s) => `password = '${s}'\nINSERT INTO notes VALUES ('${s}')`,
  ),
  fixture(
    'a JSON Web Key part',
    r('MIIEvQIBADANBgkqhkiG9w0B', 'AQEFAASCBKcwggSjAgEAAoIBAQC7'),
    (s) => `{"privateKey":"${s}"}`,
  ),
  fixture('a vault token', r('hvs.', 'CAESI', body, body), set('value')),
  fixture('a DigitalOcean token', r('dop_v1_', 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718'), set('value')),
  fixture('a random token with no name', r('qX7Lr2Vw9Kz4Bn8T', 'y3Hd6Gf1Ms5Pc0Ja'), set('value')),
  fixture('a key of a storage account', 'p4ssw0rd-here', (s) => `account_key: ${s}\n`),
  fixture('a password in German', 'p4ssw0rd-here', (s) => `db_passwort: ${s}\n`),
  fixture('a variable of a container in a patch', 'p4ssw0rd-here', (s) => `+  - name: DB_PASSWORD\n+    value: ${s}\n`),
  fixture('a Secret in a patch', 'p4ssw0rd-here', (s) => `+kind: Secret\n+stringData:\n+  db: ${s}\n`),
  fixture('a block scalar in a patch', 'p4ssw0rd-here', (s) => `+password: |\n+  ${s}\n`),
  fixture('an XML element in a patch', 'p4ssw0rd-here', (s) => `+<password>\n+  ${s}\n+</password>\n`),
  fixture('a connection string', 'AccountKey9aZ8yX7wV6uT5==', (s) => `connection_string = 'Endpoint=sb://x/;Key=${s}'`),
];
