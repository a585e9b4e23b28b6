import { classesOf } from './characters';
import { isPlaceholder } from './placeholders';
import { isReference } from './randomness';
import type { SecretSpan } from './secret-span';

/** The rest of a command before an option. Bounded, so that the time is linear. */
const BEFORE = String.raw`\b[^\n|;&]{0,300}?[\s+]`;
const VALUE = String.raw`["']?([^\s"'|-][^\s"'|]{5,200})`;

/** Programs whose option with this letter is a password. `glued`: directly after the letter. */
const option = (programs: string, letter: string, glued = false): RegExp =>
  new RegExp(String.raw`\b(?:${programs})${BEFORE}-${letter}${glued ? '' : String.raw`\s{1,3}`}${VALUE}`, 'g');

const PASSWORDS: readonly RegExp[] = [
  option('sshpass|mysql|mysqldump|mysqladmin|mariadb|7za?', 'p', true),
  option(String.raw`sshpass|(?:docker|podman|az)\s{1,3}login|mongo|mongosh|mongodump|mongorestore`, 'p'),
  option('redis-cli', 'a'),
  option('ldapsearch|ldapadd|ldapmodify', 'w'),
  option('sqlcmd|bcp|zip', 'P'),
  option('keytool|jarsigner', '(?:store|key)pass'),
  // `kubectl create secret … --from-literal=name=value`.
  new RegExp(String.raw`--from-literal[= ]["']?[\w.-]{1,60}=${VALUE}`, 'g'),
  // The formats of `.netrc`, `.pgpass` and `redis.conf`.
  new RegExp(String.raw`\blogin\s{1,10}[^\s"']{1,80}\s{1,20}password\s{1,10}${VALUE}`, 'g'),
  new RegExp(String.raw`^[+ -]?[\w.*-]{1,80}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*-]{1,60}:${VALUE}$`, 'gm'),
  new RegExp(String.raw`\brequirepass\s{1,4}${VALUE}`, 'g'),
  // A password from the standard input, after a user name for `chpasswd`.
  new RegExp(
    String.raw`\becho\s{1,3}(?:-n\s{1,3})?["']?(?:\w{1,32}:)?([^\s"'|:]{6,200})["']?\s{0,3}\|\s{0,3}(?:sudo\s{1,3})?(?:chpasswd|(?:docker|podman)\s{1,3}login|-S)\b`,
    'g',
  ),
];

/** Passwords in the options, the standard input and the configuration files of common programs. */
export function commandSecrets(text: string): SecretSpan[] {
  return PASSWORDS.flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap(({ 0: found, 1: value = '', index }) => {
      const start = index + found.lastIndexOf(value);
      const { digit, upper, lower } = classesOf(value);
      const isPassword = digit > 0 && upper + lower > 0 && !isPlaceholder(value) && !isReference(value);
      return isPassword ? [{ kind: 'password', start, end: start + value.length }] : [];
    }),
  );
}
