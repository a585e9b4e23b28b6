import { wordList } from '../../text/word-list';

/** Word parts: every name that `sensitiveName` recognizes contains at least one. */
export const STEMS: readonly string[] = [
  'pass',
  'pwd',
  'secret',
  'token',
  'key',
  'cred',
  'auth',
  'bearer',
  'pat',
  'fernet',
];

/** Word parts: every name that the judge's redactor treats as sensitive contains at least one. The redactor is stricter. */
export const BROAD_STEMS: readonly string[] = wordList(
  'pass pwd secret token key credential authorization bearer connection',
);

const SENSITIVE = wordList(`
  password passwd passphrase passcode secret token apikey accesskey privatekey secretkey signingkey appkey
  encryptionkey clientkey masterkey sharedkey accountkey storagekey servicekey licensekey deploykey authkey
  credential authorization bearer fernet
`);
/** Words that are sensitive alone or as the last word of a name: `db_pwd`, `AUTH`. */
const ENDS = ['pwd', 'pass', 'auth', 'creds', 'pat'];
/** Last words of names that are about a secret but do not contain one: `token_count`, `password_changed_at`. */
const HARMLESS_ENDS = wordList(`
  id ids name names count length size type kind expires expiry expiration ttl at policy attempts algorithm enabled
  required tokens file path dir url uri endpoint host version alias prefix suffix format field label hint hash digest
  fingerprint checksum ref arn scope scopes provider manager store header param regex pattern stdin prompt strength changed updated created date time
  users rounds hasher class input placeholder message error
`);
const HARMLESS_PARTS = wordList(`
  public pubkey csrf xsrf primarykey foreignkey sortkey partitionkey bucketkey cachekey keyboard keyword tokenize
  author publishable
`);

export type NameKind = 'password' | 'secret';

/** The kind of secret that a name suggests; null for none. Ignores case, `_`, `-` and `.`. */
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

const OWNERS = wordList(`
  admin app db ftp http key ldap login mail mongo mq my mysql pg proxy redis root smtp sql ssh store svc sys user web
  wifi
`);

/** Cheap pre-check for the names of passwords. */
export function mayBePassword(name: string): boolean {
  const lower = name.toLowerCase();
  return lower.includes('pas') || lower.includes('pwd');
}

const PASSWORDS = ['password', 'passwd', 'passphrase', 'passcode', 'passwort', 'motdepasse'];

export function plainName(name: string): string {
  return name.toLowerCase().replaceAll('_', '').replaceAll('-', '').replaceAll('.', '');
}

/** Words next to the name of a service in the name of its key: `MERAKI_API_KEY`, `algoliaappid`. */
const BESIDE = wordList(`
  access account admin api app application auth bot client consumer customer dev id integration key license live my
  oauth org password pat personal prod private project public publishable refresh rest sandbox secret server service
  stage test token url user webhook write
`);

/** True if a service is named by whole words: `OKTA_TOKEN`, `newRelicKey`, `meraki-apikey`; not `rookTable` or `CameraKit`. */
export function namesService(name: string, service: string): boolean {
  const plain = plainName(service);
  const words = wordsOf(name);
  for (let from = 0; from < words.length; from++) {
    let joined = '';
    for (let i = from; i < words.length && joined.length < plain.length + MAX_BESIDE; i++) {
      joined += words[i] as string;
      if (joined === plain) return true;
      if (i === from && joined.startsWith(plain) && isBeside(joined.slice(plain.length))) return true;
    }
  }
  return false;
}

const MAX_BESIDE = 40;

/** True if a word consists of words that may be joined to the name of a service. */
function isBeside(rest: string): boolean {
  if (rest === '') return true;
  if (rest.length > MAX_BESIDE) return false;
  return BESIDE.some((word) => rest.startsWith(word) && isBeside(rest.slice(word.length)));
}

/** Splits a name into lower-case words: `dbAccessKey`, `DB_ACCESS_KEY` and `db.access-key` have three. */
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
