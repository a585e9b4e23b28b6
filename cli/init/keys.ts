import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeKeyFile, type KeyLabel, type LoadedKey } from '../../signing/key-file';
import { assertPublicKey, keyIdOf } from '../../signing/key-id';
import { newKeyPair } from '../../signing/keys';
import { ConfigError, type Env } from '../../workers/config';
import { keyPassphrase, loadKey } from '../key-files';
import { isHex64 } from '../options';
import { makeDirectory } from '../private-files';
import type { InitRequest } from './request';

export interface KeyOnDisk {
  readonly path: string;
  readonly key: LoadedKey;
  readonly made: boolean;
}

const label = (kind: KeyLabel['kind'], type: 'service' | 'agent' | 'person', id: string): KeyLabel => ({
  kind,
  subject: { type, id },
  onBehalfOf: null,
  demo: false,
});

export interface ServiceKeys {
  readonly review: KeyOnDisk;
  readonly judge: KeyOnDisk;
  readonly commit: KeyOnDisk;
  readonly agents: readonly KeyOnDisk[];
}

/** Keys of our processes and of agents, made if missing. They have no passphrase, because processes start unattended. */
export function serviceKeys({ dir, agents }: InitRequest): ServiceKeys {
  const path = (name: string): string => join(dir, 'keys', `${name}.key.json`);
  const make = (name: string, keyLabel: KeyLabel): KeyOnDisk => keyOnDisk(path(name), keyLabel, {});
  return {
    review: make('review', label('attestor', 'service', 'review-worker')),
    judge: make('judge', label('attestor', 'service', 'judge-worker')),
    commit: make('commit', label('committer', 'service', 'committer')),
    agents: agents.map(({ name, person }) =>
      make(`agent-${name}`, { ...label('service', 'agent', name), onBehalfOf: person }),
    ),
  };
}

/** The operator's key, made if missing; COUNTERSIGN_KEY_PASSPHRASE encrypts it. */
export function operatorKey(env: Env, path: string): KeyOnDisk {
  return keyOnDisk(path, label('operator', 'person', 'operator'), env);
}

function keyOnDisk(path: string, keyLabel: KeyLabel, env: Env): KeyOnDisk {
  const passphrase = keyPassphrase(env);
  const made = !existsSync(path);
  if (made) {
    makeDirectory(dirname(path));
    writeKeyFile({
      path,
      key: newKeyPair(),
      label: keyLabel,
      createdAt: new Date().toISOString(),
      ...(passphrase === undefined ? {} : { passphrase }),
    });
  }
  const key = loadKey(env, path);
  if (key.kind !== keyLabel.kind)
    throw new ConfigError(`${path}: expected a key of kind ${keyLabel.kind}, got ${key.kind}`);
  if (key.onBehalfOf !== keyLabel.onBehalfOf)
    throw new ConfigError(
      `${path}: expected a key on behalf of ${keyLabel.onBehalfOf ?? 'nothing'}, got ${key.onBehalfOf ?? 'nothing'}; give the agent another name`,
    );
  return { path, key, made };
}

/**
 * The public key of a person: 64 hex digits, or the line that `keys new` printed. Refuses a file with a private key, which
 * only its holder may have.
 */
export function readPublicKey(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`--person: ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  if (/PRIVATE KEY/.test(text))
    throw new ConfigError(
      `--person: ${path} contains a private key, which only its holder may have; expected the public key, as "countersign keys new" prints it`,
    );
  const [first = '', second] = text.split('\t');
  const publicKey = second ?? first;
  if (!isHex64(publicKey) || (second !== undefined && keyIdOf(publicKey) !== first))
    throw new ConfigError(`--person: ${path}: expected 64 lower-case hex digits, or the line that "keys new" prints`);
  assertPublicKey(publicKey);
  return publicKey;
}
