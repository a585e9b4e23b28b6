import { createRedactor } from '../../../../policy/judge/redact';
import { scanText, SECRET_CATEGORIES } from '../../../../policy/rules/secrets/scan';

const kindsIn = (text: string): readonly string[] => {
  const { found } = scanText(text);
  return SECRET_CATEGORIES.flatMap((category) => found[category].map(({ kind }) => kind));
};

/** Split, so that secret scanners do not report this file. */
const RANDOM = ['q7Rk2ZpX9vLm4Tc8', 'Ws1Yb6Nd3Hf5'].join('');
const PASSWORD = ['m4Xq', '!92tz'].join('');

describe('a secret assigned to a name', () => {
  it.each([
    ['a type between name and value', `let authToken: string = "${RANDOM}"`],
    ['a type after the name', `var authToken string = "${RANDOM}"`],
    ['a reference type', `let auth_token: &str = "${RANDOM}";`],
    ['a call', `std::string authToken("${RANDOM}");`],
    ['a command-line option', `./run --auth-token ${RANDOM} --verbose`],
    ['a quoted index', `os.environ['AUTH_TOKEN'] = '${RANDOM}'`],
    ['an XML element with its value on the next line', `<authToken>\n    ${RANDOM}\n</authToken>`],
    ['an authentication scheme inside the quotes', `headers: { Authorization: 'Bearer ${RANDOM}' }`],
    ['a separate YAML field', `- name: AUTH_TOKEN\n  value: ${RANDOM}`],
    ['a separate JSON field', `{"name": "AUTH_TOKEN", "value": "${RANDOM}"}`],
    ['a separate XML attribute', `<add key="ClearTextPassword" value="${PASSWORD}" />`],
    ['a nested object', `"password": {"value": "${PASSWORD}", "type": "string"}`],
    ['a table cell', `| password | ${PASSWORD} |`],
    ['an encoding prefix', `APP_KEY=base64:${RANDOM}${RANDOM.slice(0, 15)}=`],
    ['a name joined with its owner', `sshpass=${PASSWORD}`],
    ['a macro definition', `#define API_KEY "${RANDOM}"`],
    ['a literal prefix before the quote', `NSString *const kApiKey = @"${RANDOM}";`],
    ['a literal prefix and an authentication scheme', `headers = {'Authorization': f'token ${RANDOM}'}`],
    ['a sibling XML element', `<key>ApiSecret</key>\n  <string>${RANDOM}</string>`],
    ['the default of a variable', `variable "auth_token" {\n  default = "${RANDOM}"\n}`],
    ['the column of an INSERT', `INSERT INTO users (email, "password") VALUES ('a@b.example', '${PASSWORD}')`],
    [
      'the column of a later row',
      `INSERT INTO t (a, api_key) VALUES\n  (lower('x, y'), NULL),\n  ('it''s), (', '${RANDOM}');`,
    ],
    ['a block scalar', `password: |-\n  ${PASSWORD}\nhost: db`],
    ['a quoted value on the next line', `"password":\n    "${PASSWORD}",`],
    ['a CDATA section', `<password><![CDATA[${PASSWORD}]]></password>`],
    ['a sibling XML element after its name', `<name>db.password</name>\n  <value>${PASSWORD}</value>`],
    ['a parameter of a stack', `{"ParameterKey": "DbPassword", "ParameterValue": "${PASSWORD}"}`],
    [
      'the default after the type of a variable',
      `variable "db_password" {\n  type    = string\n  default = "${PASSWORD}"\n}`,
    ],
    ['the key of an UPDATE', `UPDATE settings SET value = '${PASSWORD}' WHERE key = 'smtp_password'`],
    ['a setter', `client.setPassword('${PASSWORD}A')`],
    ['the configuration of Docker', `{"auths":{"r.example.com":{"auth":"${btoa('app:tr0ub4dor&3')}"}}}`],
    ['HTTP basic authentication', `Authorization: Basic ${btoa(`bob:${PASSWORD}`)}`],
    ['HTTP basic authentication with a key and no password', `Authorization: Basic ${btoa('9f8a7b6c5d4e3f2a1b0cQz:')}`],
    ['HTTP basic authentication without a pair', `Authorization: Basic ${btoa('9f8a7b6c5d4e3f2a1b0cQzKp')}`],
    ['a value with all kinds of characters', `AUTH_KEY = '${RANDOM}$K]lni2&h,(r+c:}z.!'`],
  ])('is found with %s', (_, text) => {
    expect(kindsIn(text)).toHaveLength(1);
  });

  it.each([
    ['another column of an INSERT', `INSERT INTO users (password, email) VALUES (crypt($1, $2), '${PASSWORD}')`],
    ['an INSERT of words', "INSERT INTO users (name, password) VALUES ('Ada', 'changeme'), ('Bob', 'secret')"],
    ['a template filter', 'password: {{ .Values.password | b64enc }}'],
    ['a union type', 'type Secret = Password | Sha256Digest'],
    ['the working directory', 'PWD=/home/user1/app'],
    ['a package version', '"minipass": "^7.1.3"'],
    ['a variable that is named after its content', 'exports.AuthenticationMD5Password = AuthenticationMD5Password;'],
    ['the next list item', 'import { X509Credential, X509WorkloadIdentityCredential } from "./auth"'],
    ['a method argument', 'password = password.encode("latin1")'],
    ['the type of a field', 'type Login { name: String!, password: String! }'],
    ['the next argument', 'hash = password_hash(password, PASSWORD_ARGON2ID)'],
    ['a reference to a secret store', 'password: "op://vault/item/password1"'],
    ['a pipeline variable', 'password: "#{DbPassword1}#"'],
    ['an SQL parameter', 'WHERE password = @Password1'],
    ['a password strength', 'passwordStrength: "zxcvbn3"'],
    ['a token address on a blockchain', `"tokenAddress": "0x${'e5aa946bbcfc3b6478616439'}234598a99aa4c3d5"`],
    ['the example key of a manual', `aws_secret_access_key = ${'wJalrXUtnFEMI/K7MDENG/'}bPxRfiCYEXAMPLEKEY`],
    ['a name of several words', 'const clientSecret = "ClientSecretCredentialProviderV2";'],
    ['a verb before code', 'you can pass `spec=True` to it'],
    ['a schema on the next line', 'password:\n  minLength: 12\n  pattern: "^[a-z]"'],
    [
      'the default of another variable',
      'variable "db_password" {\n  type = string\n}\nvariable "n" {\n  default = "abc123x"\n}',
    ],
    ['another value of an UPDATE', "UPDATE texts SET value = 'Enter 8 characters' WHERE key = 'password_label'"],
    ['the example of basic authentication', `Authorization: Basic ${btoa('user:password')}`],
    ['an option for reading a password', 'docker login --password-stdin registry-1.example.org'],
  ])('does not report %s', (_, text) => {
    expect(kindsIn(text)).toEqual([]);
  });
});

describe('the password of a program', () => {
  it.each([
    `sshpass -p ${PASSWORD} ssh bob@host`,
    `mysql -u root -p'${PASSWORD}' shop`,
    `docker login -u bob -p ${PASSWORD} registry.example.com`,
    `redis-cli -h cache -a "${PASSWORD}" ping`,
    `ldapsearch -D cn=admin -w ${PASSWORD} -b dc=example`,
    `sqlcmd -S db -U sa -P ${PASSWORD} -Q "SELECT 1"`,
    `echo '${PASSWORD}' | docker login -u bob --password-stdin`,
    `RUN echo 'root:${PASSWORD}' | chpasswd`,
    `echo ${PASSWORD} | sudo -S ls`,
    `keytool -list -storepass ${PASSWORD}`,
    `kubectl create secret generic db --from-literal=db=${PASSWORD}`,
    `machine db.example.com\n  login bob\n  password ${PASSWORD}`,
    `db.example.com:5432:shop:app:${PASSWORD}`,
    `requirepass ${PASSWORD}`,
  ])('is found: %s', (text) => {
    expect(kindsIn(text)).toEqual(['password']);
    expect(createRedactor().redact(text)).not.toContain(PASSWORD);
  });

  it.each([
    'docker login -u $USER1 -p $PASSWORD1 registry.example.com',
    'docker run --login -p 8080:80 image',
    'mysql -u root -p shop2',
    'mkdir -p build1/dist',
    'redis-cli -a "${REDIS_PASSWORD_1}" ping',
    'echo "$PASSWORD1" | docker login --password-stdin',
    'zip -r -P out1.zip dist',
    'kubectl create secret generic db --from-literal=db=$DB_PASSWORD1',
    'src/a.ts:12:const:x:y',
    '2024-01-01T10:30:00:abc123',
  ])('is not found: %s', (text) => {
    expect(kindsIn(text)).toEqual([]);
  });
});

describe('a password in a URL', () => {
  it('is not reported if it is the default of an image and the host has no public name', () => {
    expect(kindsIn('postgres://postgres:postgres@localhost:5432/test')).toEqual([]);
    expect(kindsIn('amqp://guest:guest@queue:5672/')).toEqual([]);
    expect(kindsIn('postgres://shopkeeper:shopkeeper@db.example.org/shop')).toEqual(['url_credentials']);
    expect(kindsIn(`postgres://postgres:${PASSWORD}@localhost:5432/test`)).toEqual(['url_credentials']);
  });

  it('is not reported if a webhook URL ends in a placeholder', () => {
    const hook = 'https://hooks.slack.com/services/T0A1B2C3D/B4E5F6G7H/';
    expect(kindsIn(`${hook}XXXXXXXXXXXXXXXXXXXXXXXX`)).toEqual([]);
    expect(kindsIn(`${hook}${RANDOM.slice(0, 24)}`)).toEqual(['slack_webhook']);
    const named = `https://hooks.slack.com/services/T0TTTTTTT/BBB72BBBB/${RANDOM.slice(0, 24)}`;
    expect(kindsIn(named)).toEqual(['slack_webhook']);
    expect(kindsIn(`${named}/`)).toEqual(['slack_webhook']);
  });
});

it('finds a webhook URL whose slashes are escaped', () => {
  const hook = `https://hooks.slack.com/services/T0A1B2C3D/B4E5F6G7H/${RANDOM.slice(0, 24)}`;
  expect(kindsIn(hook.replaceAll('/', '\\/'))).toEqual(['slack_webhook']);
});

it('finds a token without digits, but not a word with the same prefix', () => {
  expect(kindsIn(['glffct-', 'MsfYzuQKfHeE', 'DQAWtfQd'].join(''))).toEqual(['gitlab']);
  expect(kindsIn('s.makeControllerForInstancesX(1)')).toEqual([]);
  expect(kindsIn('class="glpat-PrimaryButtonOutlined"')).toEqual([]);
});
