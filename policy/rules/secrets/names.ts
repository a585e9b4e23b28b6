/** Parts of words, one of which stands in every name that `sensitiveName` knows. */
export const STEMS: readonly string[] = ['pass', 'pwd', 'secret', 'token', 'key', 'cred', 'auth', 'bearer', 'pat'];

/** Parts of words, one of which stands in every name that the judge's redactor takes for sensitive, which it does sooner. */
export const BROAD_STEMS: readonly string[] = [
  'pass',
  'pwd',
  'secret',
  'token',
  'key',
  'credential',
  'authorization',
  'bearer',
  'connection',
];

const SENSITIVE = [
  'password',
  'passwd',
  'passphrase',
  'passcode',
  'secret',
  'token',
  'apikey',
  'accesskey',
  'privatekey',
  'secretkey',
  'signingkey',
  'appkey',
  'encryptionkey',
  'clientkey',
  'masterkey',
  'sharedkey',
  'accountkey',
  'storagekey',
  'servicekey',
  'licensekey',
  'deploykey',
  'authkey',
  'credential',
  'authorization',
  'bearer',
];
/** Words that are sensitive by themselves or at the end: `db_pwd`, `AUTH`. */
const ENDS = ['pwd', 'pass', 'auth', 'creds', 'pat'];
/** `token_count`, `password_changed_at`, `public_key`: names about a secret, or of what is none. */
const HARMLESS_ENDS = [
  'id',
  'ids',
  'name',
  'names',
  'count',
  'length',
  'size',
  'type',
  'kind',
  'expires',
  'expiry',
  'expiration',
  'ttl',
  'at',
  'policy',
  'attempts',
  'algorithm',
  'enabled',
  'required',
  'tokens',
  'file',
  'path',
  'dir',
  'url',
  'uri',
  'endpoint',
  'host',
  'version',
  'alias',
  'prefix',
  'suffix',
  'format',
  'field',
  'label',
  'hint',
  'hash',
  'digest',
  'fingerprint',
  'checksum',
  'ref',
  'arn',
  'scope',
  'scopes',
  'provider',
  'manager',
  'store',
  'header',
  'param',
  'regex',
  'pattern',
  'stdin',
  'prompt',
  'strength',
];
const HARMLESS_PARTS = [
  'public',
  'pubkey',
  'csrf',
  'xsrf',
  'primarykey',
  'foreignkey',
  'sortkey',
  'partitionkey',
  'bucketkey',
  'cachekey',
  'keyboard',
  'keyword',
  'tokenize',
  'author',
  'publishable',
];

export type NameKind = 'password' | 'secret';

/** What the value of a name is, by the name alone; null for none. Case, `_`, `-` and `.` are not looked at. */
export function sensitiveName(name: string): NameKind | null {
  const plain = plainName(name);
  if (HARMLESS_PARTS.some((part) => plain.includes(part) && !plain.includes('authorization'))) return null;
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  if (words.length > 1 && HARMLESS_ENDS.includes(last)) return null;
  if (PASSWORDS.some((word) => plain.includes(word)) || isPass(last)) return 'password';
  if (SENSITIVE.some((word) => plain.includes(word))) return 'secret';
  return ENDS.includes(last) ? 'secret' : null;
}

/** `pwd`, `dbpwd`, `pass`, `sshpass`; not `bypass`. */
function isPass(word: string): boolean {
  const end = ['pwd', 'pass'].find((ending) => word.endsWith(ending));
  return end !== undefined && (word === end || OWNERS.includes(word.slice(0, -end.length)));
}

const OWNERS = [
  'admin',
  'app',
  'db',
  'ftp',
  'http',
  'key',
  'ldap',
  'login',
  'mail',
  'mongo',
  'mq',
  'my',
  'mysql',
  'pg',
  'proxy',
  'redis',
  'root',
  'smtp',
  'sql',
  'ssh',
  'store',
  'svc',
  'sys',
  'user',
  'web',
  'wifi',
];

/** A cheap first look. */
export function mayBePassword(name: string): boolean {
  const lower = name.toLowerCase();
  return lower.includes('pas') || lower.includes('pwd');
}

const PASSWORDS = ['password', 'passwd', 'passphrase', 'passcode'];

export function plainName(name: string): string {
  return name.toLowerCase().replaceAll('_', '').replaceAll('-', '').replaceAll('.', '');
}

/** `dbAccessKey`, `DB_ACCESS_KEY` and `db.access-key` are three words. */
function wordsOf(name: string): string[] {
  const words: string[] = [];
  let word = '';
  for (let i = 0; i < name.length; i++) {
    const letter = name[i] as string;
    if ('_-.'.includes(letter)) {
      if (word !== '') words.push(word);
      word = '';
      continue;
    }
    const isUpper = letter >= 'A' && letter <= 'Z';
    const before = name[i - 1] ?? '';
    if (isUpper && word !== '' && before >= 'a' && before <= 'z') {
      words.push(word);
      word = '';
    }
    word += letter.toLowerCase();
  }
  if (word !== '') words.push(word);
  return words;
}
