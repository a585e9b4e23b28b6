import { wordList } from '../../../policy/text/word-list';

/** Names whose values are credentials or personal secrets, and names of folders for such values. */
const EXACT = new Set(
  wordList(`
  private internal hidden confidential restricted ssn pin cvv cvc salt otp totp seed mnemonic recoverycodes backupcodes
  taxid nationalid passportnumber cardnumber pan iban accountnumber dateofbirth dob medical diagnosis securityanswer
  pwd pass creds bearer jwt pem dsn cookie cookies sessionid kubeconfig keystore
`),
);
/** Words of such names, such as `internalNotes`. */
const WORDS = new Set(wordList('private internal hidden confidential restricted'));
/** Parts of such names, such as `stripe_secret_key`. */
const PARTS = wordList(`
  secret password passwd passphrase token credential apikey privatekey accesskey signingkey encryptionkey sshkey
  licensekey connectionstring databaseurl socialsecurity
`);

/** A name as the most tolerant servers compare it: regardless of case and of compatible letters, such as `ſ` for `s`. */
export function foldedName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** A folded name without underscores and hyphens, so that `isAdmin`, `is_admin` and `IS-ADMIN` are equal. */
export function normalizedName(name: string): string {
  const lower = foldedName(name);
  return lower.includes('_') || lower.includes('-') ? lower.replaceAll('_', '').replaceAll('-', '') : lower;
}

const SEPARATOR = /[.[\]/:$"'`]/;

/**
 * The names in a name that some servers read as a path: `account` and `role` of `account.role` and of `account[role]`. Otherwise
 * the name itself.
 */
export function namesInPath(name: string): readonly string[] {
  if (!SEPARATOR.test(name)) return [name.trim() || name];
  const parts = name.split(SEPARATOR).flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
  return parts.length === 0 ? [name] : parts;
}

/** A name and the names in it. */
export function readingsOfName(name: string): readonly string[] {
  const parts = namesInPath(name);
  return parts[0] === name ? parts : [name, ...parts];
}

/** The words of a name in lower case: `allow`, `force` and `pushes` of `allowForcePushes`. */
export function wordsOf(name: string): readonly string[] {
  return name
    .slice(0, 300)
    .normalize('NFKC')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
}

/** Whether a member of this name is meant for few readers. */
export function isPrivateName(name: string): boolean {
  const normalized = normalizedName(name);
  if (EXACT.has(normalized) || PARTS.some((part) => normalized.includes(part))) return true;
  return wordsOf(name).some((word) => WORDS.has(word));
}
