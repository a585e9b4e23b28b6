import { createPrivateKey, type KeyObject } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { errorMessage } from '../policy/contracts/error-message';
import { KeyEntry, KeyId } from '../policy/evidence/predicates';
import { parseUniqueJson } from '../policy/text/unique-json';
import { signingKey, type SigningKey } from './keys';
import { createWhole } from './whole-file';

/** The metadata of a key, which an operator signs into the registry. */
export const KeyLabel = KeyEntry.pick({ kind: true, subject: true, onBehalfOf: true, demo: true });
export type KeyLabel = z.infer<typeof KeyLabel>;

const KeyFile = z.strictObject({
  format: z.literal('countersign-key/v1'),
  keyId: KeyId,
  publicKey: KeyEntry.shape.publicKey,
  ...KeyLabel.shape,
  createdAt: z.iso.datetime(),
  /** PKCS #8 PEM; encrypted if a passphrase was given. */
  privateKey: z.string().startsWith('-----BEGIN '),
});

/** A key read from its file. */
export interface LoadedKey extends SigningKey, KeyLabel {
  readonly createdAt: string;
}

export interface WriteKeyFile {
  readonly path: string;
  readonly key: SigningKey;
  readonly label: KeyLabel;
  readonly createdAt: string;
  /** At least 8 characters; the private key is then encrypted. */
  readonly passphrase?: string;
}

/** Writes the file with mode 600, whole or not at all. Never overwrites a file: a lost key cannot be recovered. */
export function writeKeyFile({ path, key, label, createdAt, passphrase }: WriteKeyFile): void {
  if (passphrase !== undefined && passphrase.length < 8) throw new Error('Passphrase: expected at least 8 characters');
  const pem = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase };
  const file = KeyFile.parse({
    format: 'countersign-key/v1',
    keyId: key.keyId,
    publicKey: key.publicKey,
    ...KeyLabel.parse(label),
    createdAt,
    privateKey: key.privateKey.export({ format: 'pem', type: 'pkcs8', ...pem }),
  });
  try {
    createWhole(path, `${JSON.stringify(file, null, 2)}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Error(`Key file ${path}: its directory does not exist`, { cause: error });
    if (code !== 'EEXIST') throw error;
    throw new Error(
      `Key file ${path} already exists and is not overwritten. Choose another path, or move the existing file`,
      { cause: error },
    );
  }
}

/** Throws an Error with the path, the problem and what to do, for example for a file that other users can read. */
export function readKeyFile(path: string, options: { readonly passphrase?: string } = {}): LoadedKey {
  const fail = (problem: string, cause?: unknown): never => {
    throw new Error(`Key file ${path}: ${problem}`, { cause });
  };
  const file = parse(readPrivate(path, fail), fail);
  const privateKey = decrypt(file.privateKey, options.passphrase, fail);
  if (privateKey.asymmetricKeyType !== 'ed25519')
    fail(
      `expected an Ed25519 private key, got ${privateKey.asymmetricKeyType}; create one with \`countersign keys new\``,
    );
  const key = signingKey(privateKey);
  if (key.publicKey !== file.publicKey || key.keyId !== file.keyId)
    fail('its private key does not match its public key; the file was changed');
  return {
    ...key,
    kind: file.kind,
    subject: file.subject,
    onBehalfOf: file.onBehalfOf,
    demo: file.demo,
    createdAt: file.createdAt,
  };
}

type Fail = (problem: string, cause?: unknown) => never;

function readPrivate(path: string, fail: Fail): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return fail(
      code === 'ENOENT'
        ? 'no such file; create one with `countersign keys new`'
        : `cannot be read (${code ?? String(error)})`,
      error,
    );
  }
  try {
    const stat = fstatSync(fd);
    if (stat.isDirectory()) fail('expected a file, got a directory');
    const { mode, size } = stat;
    if (size > 64 * 1024) fail(`expected at most 64 KiB, got ${size} bytes; this is not a key file`);
    // On Windows the mode does not tell who can read the file.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      fail(`other users can read it (mode ${(mode & 0o777).toString(8)}); run: chmod 600 ${path}`);
    }
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function parse(text: string, fail: Fail): z.infer<typeof KeyFile> {
  let value: unknown;
  try {
    value = parseUniqueJson(text);
  } catch (error) {
    return fail(`not JSON (${errorMessage(error)}); expected a file created by \`countersign keys new\``, error);
  }
  if (!z.object({ format: z.string() }).safeParse(value).success)
    return fail('not a key file; expected one created by `countersign keys new`');
  const parsed = KeyFile.safeParse(value);
  if (parsed.success) return parsed.data;
  return fail(parsed.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`).join('; '));
}

function decrypt(pem: string, passphrase: string | undefined, fail: Fail): KeyObject {
  const encrypted = pem.startsWith('-----BEGIN ENCRYPTED PRIVATE KEY-----');
  if (encrypted && passphrase === undefined) fail('it is encrypted; give its passphrase');
  try {
    return createPrivateKey({
      key: pem,
      format: 'pem',
      ...(encrypted && passphrase !== undefined ? { passphrase } : {}),
    });
  } catch (error) {
    // The cause contains no key material.
    return fail(
      encrypted ? 'the passphrase is wrong, or the file was changed' : 'its private key cannot be read',
      error,
    );
  }
}
