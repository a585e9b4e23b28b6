import { readFileSync } from 'node:fs';
import { ValidatorResult } from '../../../../policy/contracts/finding';
import { packDefinitions } from '../../../../source-tools';
import { scanText } from '../../../../policy/rules/secrets/scan';
import { SECRETS } from '../../judge/secret-fixtures';
import { type PackRun, runRule } from '../support/run-pack-rule';

const secretsPack = packDefinitions.filter(({ pack }) => pack === 'secrets');

const TOKEN = ['ghp', '_', 'Zk3Qw9xT7mN2pL5vB8rY4cD6', 'aB1cD2eF3gH4'].join('');

const patch = (path: string, lines: readonly string[], added: number, removed: number): string =>
  `${[`diff --git a/${path} b/${path}`, 'index 1f9d725..8c3482d 100644', `--- a/${path}`, `+++ b/${path}`, `@@ -1,${removed} +1,${added} @@`, ...lines].join('\n')}\n`;

const firing = (raw: string | Uint8Array, options: PackRun = {}): Record<string, ValidatorResult> =>
  Object.fromEntries(
    secretsPack
      .filter((d) => d.sourceTools === '*' || d.sourceTools.includes(options.sourceTool ?? 'GitPatch'))
      .map((d) => [d.implementation, runRule(d.implementation, raw, options)] as const)
      .filter(([, result]) => result.status !== 'ALLOW'),
  );

const forms = (secret: string): string[] =>
  secret.split('\n').flatMap((line) => (line.length < 6 ? [] : [line, JSON.stringify(line).slice(1, -1)]));

describe('a finding on a secret', () => {
  it.each(SECRETS.map((s) => [s.id, s] as const))(
    'does not contain the secret: %s, in plain text, in JSON or in metadata',
    (_, { text, secret }) => {
      const findings = JSON.stringify([
        firing(text, { sourceTool: 'SQLDryRun' }),
        firing(JSON.stringify({ body: { [text]: text } }), { sourceTool: 'HTTPPatch' }),
        firing('SELECT 1', { sourceTool: 'SQLDryRun', metadata: { note: text, deep: [{ [text]: 1 }] } }),
      ]);
      for (const form of forms(secret)) expect(findings).not.toContain(form);
    },
  );

  it('has its kind, length and place', () => {
    const result = firing(`SELECT 1;\nUPDATE s SET v = '${TOKEN}';\n`, { sourceTool: 'SQLDryRun' })[
      'secrets_known_token'
    ];
    expect(result).toMatchObject({
      status: 'BLOCK',
      reason: 'github of 40 characters (line 2)',
      details: { places: [{ what: 'github of 40 characters', line: 2, column: 19 }] },
    });
    expect(result?.evidenceRefs[0]).toMatch(/#L2:C19-L2:C59$/);
  });

  it('points to the staged bytes if JSON escapes hide the letters', () => {
    const escaped = [...TOKEN].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    const result = firing(`{"body":\n "${escaped}"}`, { sourceTool: 'HTTPPatch' })['secrets_known_token'];
    expect(result?.evidenceRefs[0]).toMatch(/#L2:C3-/);
  });
});

describe('in a patch', () => {
  it('blocks only added lines, and ignores removed and context lines', () => {
    const of = (lines: readonly string[], added: number, removed: number): string[] =>
      Object.keys(firing(patch('a.txt', lines, added, removed)));
    expect(of([' a', `+x ${TOKEN}`], 2, 1)).toEqual(['secrets_known_token']);
    expect(of([' a', `-x ${TOKEN}`], 1, 2)).toEqual([]);
    expect(of([` x ${TOKEN}`, '+a'], 2, 1)).toEqual([]);
  });

  it('asks about a secret in the data of tests, which can be waived, and forbids it elsewhere', () => {
    const of = (path: string): string[] => Object.keys(firing(patch(path, [' a', `+x ${TOKEN}`], 2, 1)));
    expect(of('src/a.ts')).toEqual(['secrets_known_token']);
    for (const path of ['test/a.ts', 'src/a.test.ts', 'pkg/testdata/key.txt', 'crates/a/src/tests.rs'])
      expect([path, of(path)]).toEqual([path, ['secrets_test_data']]);
    const level = secretsPack.find((d) => d.implementation === 'secrets_test_data')?.defaultLevel;
    expect(level).toBe('confirm');
  });

  it('names the file and the line in the file', () => {
    const raw = patch('a.txt', [' a', `+x ${TOKEN}`], 2, 1).replace('-1,1 +1,2', '-40,1 +50,2');
    const result = firing(raw)['secrets_known_token'];
    expect(result?.reason).toBe('github of 40 characters ("a.txt" line 51)');
    expect(result?.details).toMatchObject({ places: [{ file: '"a.txt"', fileLine: 51, line: 7 }] });
  });

  it('does not read a line that is not valid UTF-8', () => {
    const raw = Buffer.from(patch('a.txt', [' a', `+\u00ff ${TOKEN}`], 2, 1), 'latin1');
    expect(Object.keys(firing(raw))).toEqual([]);
  });

  it('counts the line marker in the column of a place', () => {
    const result = firing(patch('a.txt', [' a', `+x ${TOKEN}`], 2, 1))['secrets_known_token'];
    expect(result?.evidenceRefs[0]).toMatch(/#L7:C4-L7:C44$/);
  });

  it('finds a key across added lines, and scans a patch that cannot be parsed as plain text', () => {
    const key = ['-----BEGIN ', 'PRIVATE KEY-----'].join('');
    const end = ['-----END ', 'PRIVATE KEY-----'].join('');
    const lines = [key, 'MC4CAQAwBQYDK2VwBCIEIEl0Zm9yVGVzdHNPbmx5', 'Tm90QVJlYWxLZXlBdEFsbA', end].map((l) => `+${l}`);
    expect(Object.keys(firing(patch('k.pem', lines, 4, 0).replace('-1,0', '-0,0')))).toContain('secrets_private_key');
    expect(Object.keys(firing(`not a patch\n${TOKEN}\n`))).toContain('secrets_known_token');
  });
});

it.each([
  ['a list', { password: ['m4Xq!92tz'] }, '/password/0'],
  ['a list of names and values', { env: [{ name: 'DB_PASSWORD', value: 'm4Xq!92tz' }] }, ''],
  ['the arguments of a command', { argv: ['run', '--password', 'm4Xq!92tz'] }, ''],
])('finds a secret of metadata in %s', (_, metadata, pointer) => {
  const result = firing('SELECT 1', { sourceTool: 'SQLDryRun', metadata })['secrets_in_metadata'];
  expect(result?.evidenceRefs).toEqual([expect.stringMatching(new RegExp(`#${pointer}$`))]);
});

it.each([
  ["const a = 'ghp_' + 'Zk3Qw9xT7mN2pL5vB8rY4cD6' + 'aB1cD2eF3gH4';"],
  [Buffer.from(`export CI=${TOKEN}`).toString('base64')],
  [Buffer.from(Buffer.from(`export CI=${TOKEN} # build`).toString('base64')).toString('base64')],
  [Buffer.from(`export CI=${TOKEN}`).toString('hex')],
])('finds an encoded or split token: %s', (raw) => {
  expect(Object.keys(firing(raw, { sourceTool: 'SQLDryRun' }))).toEqual(['secrets_covered']);
});

const RANDOM = ['q7Rk2ZpX9vLm4Tc8', 'Ws1Yb6Nd3Hf5', 'Gh8Jk2Lq'].join('');
const HEX = ['9f86d081884c7d659a2f', 'eaa0c55ad015a3bf4f1b'].join('');

it.each([
  ['the word of a vendor inside another word', `const sumObj = "${RANDOM.slice(0, 14)}";`],
  ['the word of a vendor inside another word', `rookTable = "00${RANDOM}${RANDOM.slice(0, 4)}"`],
  ['the word of a vendor across two words', `CameraKit: "${HEX}"`],
  ['the name of a file with a hash', `password_icon = "lock-${HEX.slice(0, 16)}.svg"`],
  ['a property', 'field: "user.credentials.password2"'],
  ['an identifier', "passwordField: 'loginPasswordInput2'"],
  ['a name with a version', 'const PASSWORD_RESET_TOKEN = "password-reset-token-v2";'],
  ['a path', "resetPassword: '/auth/reset-password/v2'"],
])('does not report %s: %s', (_, raw) => {
  expect(firing(raw, { sourceTool: 'SQLDryRun' })).toEqual({});
});

const JWT = ['eyJhbGciOiJSUzI1NiJ9', 'eyJpc3MiOiIxMjM0NTYifQ', 'Zk3Qw9xT7mN2pL5vB8rY4cD6aB1cD2eF3gH4'].join('.');

it.each([
  ['an installation token with an id and a JWT', `run with ghs_1234567_${JWT}`],
  ['a token after an underscore', `export CI_${TOKEN}`],
  ['a key of a vendor with words around it', `X-Cisco-Meraki-API-Key: ${HEX}`],
  ['a key of a vendor whose name is joined', `algoliaapikey = "${HEX.slice(0, 32)}"`],
  ['a token as the user of a URL', `https://${HEX}:x-oauth-basic@github.com/a/b.git`],
])('reports %s', (_, raw) => {
  expect(Object.keys(firing(raw, { sourceTool: 'SQLDryRun' }))).toHaveLength(1);
});

it.each([
  'password = process.env.DB_PASSWORD',
  'password: string;',
  'const password = getPassword(user1);',
  "ALTER ROLE app PASSWORD :'app_password'",
  'postgres://app:$(DB_PASSWORD)@db/shop',
  'api_key = "${{ secrets.API_KEY }}"',
  '"csrf-token": "Mj2qykJO5rELyHgezQ69nzUX0i3OH67V"',
  'sk-button-primary-large-2',
  'token_count: 1234567890123456',
  'integrity sha512-9BXKFbZ1jzmVyVxJgW3R0mV8b5c0m2pYy0k5Q6mO9Q==',
  'commit 43fc912ef59a83054ea7f6706df4d53a7dea4d80',
])('does not report what is not a secret: %s', (raw) => {
  expect(firing(raw, { sourceTool: 'SQLDryRun' })).toEqual({});
});

it('reports where the scan stopped on text with too many candidates, and does not pass it', () => {
  for (const dense of [
    `${TOKEN.slice(0, 12)}${'a'.repeat(30)} `.repeat(10_000),
    `api_key="${TOKEN.slice(4)}"\n`.repeat(3_000),
  ]) {
    const result = runRule('secrets_known_token', dense, { sourceTool: 'SQLDryRun' });
    expect(result.reason).toContain('the scan stopped here');
    expect(ValidatorResult.parse(result)).toEqual(result);
  }
});

it('finds nothing in its own sources and tests', () => {
  const files = ['rules.ts', 'formats.ts', 'placeholders.ts', 'services.ts'].map((f) => `policy/rules/secrets/${f}`);
  for (const file of files) expect([file, scanText(readFileSync(file, 'utf8')).found.token]).toEqual([file, []]);
});
