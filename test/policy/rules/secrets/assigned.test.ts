import { scanText, WAYS } from '../../../../policy/rules/secrets/scan';

const kindsIn = (text: string): readonly string[] => {
  const { found } = scanText(text);
  return WAYS.flatMap((way) => found[way].map(({ kind }) => kind));
};

/** In two pieces, so that no scanner of this repository takes a test for a leak. */
const RANDOM = ['q7Rk2ZpX9vLm4Tc8', 'Ws1Yb6Nd3Hf5'].join('');
const PASSWORD = ['m4Xq', '!92tz'].join('');

describe('a secret beside its name', () => {
  it.each([
    ['a type between name and value', `let authToken: string = "${RANDOM}"`],
    ['a type behind the name', `var authToken string = "${RANDOM}"`],
    ['a borrowed type', `let auth_token: &str = "${RANDOM}";`],
    ['a call', `std::string authToken("${RANDOM}");`],
    ['an option and a blank', `./run --auth-token ${RANDOM} --verbose`],
    ['an index in quotes', `os.environ['AUTH_TOKEN'] = '${RANDOM}'`],
    ['the next line of an element', `<authToken>\n    ${RANDOM}\n</authToken>`],
    ['a scheme inside the quotes', `headers: { Authorization: 'Bearer ${RANDOM}' }`],
    ['a field of its own', `- name: AUTH_TOKEN\n  value: ${RANDOM}`],
    ['a field of its own in JSON', `{"name": "AUTH_TOKEN", "value": "${RANDOM}"}`],
    ['an attribute of its own', `<add key="ClearTextPassword" value="${PASSWORD}" />`],
    ['an object of its own', `"password": {"value": "${PASSWORD}", "type": "string"}`],
    ['a column of a table', `| password | ${PASSWORD} |`],
    ['a prefix that says how it is written', `APP_KEY=base64:${RANDOM}${RANDOM.slice(0, 15)}=`],
    ['a name that is one word with its owner', `sshpass=${PASSWORD}`],
    ['a definition', `#define API_KEY "${RANDOM}"`],
    ['a letter before the quote', `NSString *const kApiKey = @"${RANDOM}";`],
    ['a scheme behind a letter', `headers = {'Authorization': f'token ${RANDOM}'}`],
    ['the element beside it', `<key>ApiSecret</key>\n  <string>${RANDOM}</string>`],
    ['the default of a variable', `variable "auth_token" {\n  default = "${RANDOM}"\n}`],
    ['every sort of character', `AUTH_KEY = '${RANDOM}$K]lni2&h,(r+c:}z.!'`],
  ])('is found behind %s', (_, text) => {
    expect(kindsIn(text)).toHaveLength(1);
  });

  it.each([
    ['the filter of a template', 'password: {{ .Values.password | b64enc }}'],
    ['a union of types', 'type Secret = Password | Sha256Digest'],
    ['the working folder', 'PWD=/home/user1/app'],
    ['the version of a package', '"minipass": "^7.1.3"'],
    ['a variable that is named for what it holds', 'exports.AuthenticationMD5Password = AuthenticationMD5Password;'],
    ['the next item of a list', 'import { X509Credential, X509WorkloadIdentityCredential } from "./auth"'],
    ['the argument of a method', 'password = password.encode("latin1")'],
    ['the type of a field', 'type Login { name: String!, password: String! }'],
    ['the next argument', 'hash = password_hash(password, PASSWORD_ARGON2ID)'],
    ['where it lies', 'password: "op://vault/item/password1"'],
    ['a variable of a pipeline', 'password: "#{DbPassword1}#"'],
    ['a variable of a statement', 'WHERE password = @Password1'],
    ['how good one is', 'passwordStrength: "zxcvbn3"'],
    ['the account of a token', `"tokenAddress": "0x${'e5aa946bbcfc3b6478616439'}234598a99aa4c3d5"`],
    ['the key of a manual', `aws_secret_access_key = ${'wJalrXUtnFEMI/K7MDENG/'}bPxRfiCYEXAMPLEKEY`],
    ['a name of several words', 'const clientSecret = "ClientSecretCredentialProviderV2";'],
    ['a verb and a piece of code', 'you can pass `spec=True` to it'],
    ['where a password comes from', 'docker login --password-stdin registry-1.example.org'],
  ])('is not %s', (_, text) => {
    expect(kindsIn(text)).toEqual([]);
  });
});

describe('a password in an address', () => {
  it('is none where an image comes with it and the machine has no address outside', () => {
    expect(kindsIn('postgres://postgres:postgres@localhost:5432/test')).toEqual([]);
    expect(kindsIn('amqp://guest:guest@queue:5672/')).toEqual([]);
    expect(kindsIn('postgres://shopkeeper:shopkeeper@db.example.org/shop')).toEqual(['url_credentials']);
    expect(kindsIn(`postgres://postgres:${PASSWORD}@localhost:5432/test`)).toEqual(['url_credentials']);
  });

  it('is none where the address of a webhook ends in a place to fill in', () => {
    const hook = 'https://hooks.slack.com/services/T0A1B2C3D/B4E5F6G7H/';
    expect(kindsIn(`${hook}XXXXXXXXXXXXXXXXXXXXXXXX`)).toEqual([]);
    expect(kindsIn(`${hook}${RANDOM.slice(0, 24)}`)).toEqual(['slack_webhook']);
    const named = `https://hooks.slack.com/services/T0TTTTTTT/BBB72BBBB/${RANDOM.slice(0, 24)}`;
    expect(kindsIn(named)).toEqual(['slack_webhook']);
    expect(kindsIn(`${named}/`)).toEqual(['slack_webhook']);
  });
});

it('a token is found though chance gave it no digit, and a word with the same beginning is none', () => {
  expect(kindsIn(['glffct-', 'MsfYzuQKfHeE', 'DQAWtfQd'].join(''))).toEqual(['gitlab']);
  expect(kindsIn('s.makeControllerForInstancesX(1)')).toEqual([]);
  expect(kindsIn('class="glpat-PrimaryButtonOutlined"')).toEqual([]);
});
