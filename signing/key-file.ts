import { createPrivateKey, type KeyObject } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { KeyEntry, KeyId } from '../policy/evidence/predicates';
import { signingKey, type SigningKey } from './keys';

/** What a key file says of its key: what an operator will sign into the registry. The label `demo` travels with it. */
export const KeyLabel = KeyEntry.pick({ kind: true, subject: true, onBehalfOf: true, demo: true });
export type KeyLabel = z.infer<typeof KeyLabel>;

const KeyFile = z.strictObject({
  format: z.literal('countersign-key/v1'),
  keyId: KeyId,
  publicKey: KeyEntry.shape.publicKey,
  ...KeyLabel.shape,
  createdAt: z.iso.datetime(),
  /** PKCS8 PEM; encrypted where a passphrase was given. */
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

/** Writes with mode 600. Never overwrites: a key that is lost cannot be made again. */
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
    writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Error(
      `Key file ${path} exists already; it is not overwritten. Name another file, or move that one away`,
      { cause: error },
    );
  }
}

export interface ReadKeyOptions {
  readonly passphrase?: string;
  /** Take a file that others may read: secrets that a container runtime mounts. */
  readonly anyMode?: boolean;
}

/** Throws an Error that names the file, what is wrong and what to do. */
export function readKeyFile(path: string, options: ReadKeyOptions = {}): LoadedKey {
  const fail = (problem: string, cause?: unknown): never => {
    throw new Error(`Key file ${path}: ${problem}`, { cause });
  };
  const file = parse(readPrivate(path, options.anyMode ?? false, fail), fail);
  const key = signingKey(decrypt(file.privateKey, options.passphrase, fail));
  if (key.publicKey !== file.publicKey || key.keyId !== file.keyId)
    fail('its private key does not belong to its public key; the file was changed');
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

function readPrivate(path: string, anyMode: boolean, fail: Fail): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return fail(
      code === 'ENOENT'
        ? 'no such file; `countersign keys new` makes one'
        : `cannot be read (${code ?? String(error)})`,
      error,
    );
  }
  try {
    const { mode, size } = fstatSync(fd);
    if (size > 64 * 1024) fail(`expected at most 64 KiB, got ${size} bytes; this is no key file`);
    // On Windows the mode says nothing.
    if (!anyMode && process.platform !== 'win32' && (mode & 0o077) !== 0) {
      fail(`others may read it (mode ${(mode & 0o777).toString(8)}); run: chmod 600 ${path}`);
    }
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function parse(text: string, fail: Fail): z.infer<typeof KeyFile> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fail('not JSON; expected a file that `countersign keys new` made', error);
  }
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
    // The cause holds no key material, but nothing of use either.
    return fail(
      encrypted ? 'the passphrase is wrong, or the file was changed' : 'its private key cannot be read',
      error,
    );
  }
}
