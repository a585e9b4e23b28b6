import { databaseClock } from '../../storage/database/database';
import { createEnrollments } from '../../storage/keys/enrollments';
import { newLink, type LinkRequest, type NewLink } from '../../storage/keys/new-link';
import { createKeyRegistry } from '../../storage/keys/key-registry';
import type { KeyRegistry, RegisteredKey } from '../../policy/evidence/key-registry';
import { writeKeyFile, type LoadedKey } from '../../signing/key-file';
import { assertPublicKey, keyIdOf } from '../../signing/key-id';
import { newKeyPair } from '../../signing/keys';
import { canSign, publicKeyOf } from '../../signing/operator-key';
import { signKeyEntry, signKeyRevocation, type KeyGrant } from '../../signing/registry-entry';
import type { Env } from '../../workers/config';
import { knownSettings } from '../../workers/local-client';
import { assertCanSign, keyPassphrase, loadOperatorKey } from '../key-files';
import { UsageError } from '../usage-error';
import { errorMessage } from '../../policy/contracts/error-message';
import { withOperatorDatabase } from '../operator-database';

const APPLICATION = 'countersign-keys';

/** Whom a key belongs to, what it may sign, and what it may do in which tenants. */
export type KeyHolder = Omit<KeyGrant, 'demo'>;

export interface CreatedKey {
  readonly keyId: string;
  readonly publicKey: string;
  readonly file: string;
  readonly registered: boolean;
}

/** Writes a new key file, and registers the key if an operator's key file is given. */
export async function createKey(
  env: Env,
  holder: KeyHolder,
  out: string,
  operatorKeyFile: string | null,
): Promise<CreatedKey> {
  const key = newKeyPair();
  const operator = operatorKeyFile === null ? null : loadOperatorKey(env, operatorKeyFile, '--operator-key');
  const label = { ...holder, demo: operator?.demo ?? false };
  const passphrase = keyPassphrase(env);
  const { kind, subject, onBehalfOf, demo } = label;
  const write = (createdAt: string): void =>
    writeKeyFile({
      path: out,
      key,
      label: { kind, subject, onBehalfOf, demo },
      createdAt,
      ...(passphrase === undefined ? {} : { passphrase }),
    });
  if (operator === null) write(new Date().toISOString());
  else
    await withRegistry(env, operator, async (registry, addedAt) => {
      // Signed before the file is written: an entry that cannot be signed leaves no key file behind.
      const entry = signKeyEntry({ ...label, publicKey: key.publicKey, addedAt }, operator);
      write(addedAt);
      await registry.add(entry);
    });
  return { keyId: key.keyId, publicKey: key.publicKey, file: out, registered: operator !== null };
}

/** Registers a public key, signed with an operator's key file. Returns the key id. */
export async function registerKey(
  env: Env,
  holder: KeyHolder,
  publicKey: string,
  operatorKeyFile: string,
): Promise<string> {
  assertGiven(publicKey);
  const operator = loadOperatorKey(env, operatorKeyFile, '--operator-key');
  await withRegistry(env, operator, (registry, addedAt) =>
    registry.add(signKeyEntry({ ...holder, demo: operator.demo, publicKey, addedAt }, operator)),
  );
  return keyIdOf(publicKey);
}

function assertGiven(publicKey: string): void {
  try {
    assertPublicKey(publicKey);
  } catch (error) {
    throw new UsageError(`${errorMessage(error)}. "countersign keys new" prints key id, public key and file`);
  }
}

/** The gateway of this configuration; empty if none is known. */
export function gatewayUrl(env: Env): string {
  return knownSettings(env).gatewayUrl;
}

/** Makes a one-time link by which a person enrols a passkey, signed with an operator's key file. */
export async function enrollPerson(
  env: Env,
  request: Omit<LinkRequest, 'now'>,
  operatorKeyFile: string,
): Promise<NewLink> {
  const operator = loadOperatorKey(env, operatorKeyFile, '--operator-key');
  return await withOperatorDatabase(env, APPLICATION, async (db, trustedOperators) => {
    assertCanSign(trustedOperators, operator, '--operator-key');
    const now = await databaseClock(db)();
    return await newLink(createEnrollments({ db, trustedOperators }), { ...request, now }, operator);
  });
}

export async function listKeys(env: Env): Promise<readonly RegisteredKey[]> {
  return await withRegistry(env, null, (registry) => registry.list());
}

/** True if the key is of an operator by the trust file of the CLI, so that what it signs still counts. */
export async function revokeKey(env: Env, keyId: string, reason: string, operatorKeyFile: string): Promise<boolean> {
  const operator = loadOperatorKey(env, operatorKeyFile, '--operator-key');
  await withRegistry(env, operator, (registry, revokedAt) =>
    registry.revoke(signKeyRevocation({ keyId, reason, revokedAt }, operator)),
  );
  const { operators } = knownSettings(env);
  return operators.map(publicKeyOf).some((key) => keyIdOf(key) === keyId && canSign(operators, key, new Date()));
}

/** `operator`: who signs. `at`: the time of the database, which dates statements. Verifiers compare them with rows of reviews, and this machine's clock may be off. */
async function withRegistry<T>(
  env: Env,
  operator: LoadedKey | null,
  work: (registry: KeyRegistry, at: string) => Promise<T>,
): Promise<T> {
  return await withOperatorDatabase(env, APPLICATION, async (db, trustedOperators) => {
    if (operator !== null) assertCanSign(trustedOperators, operator, '--operator-key');
    return work(createKeyRegistry({ db, trustedOperators, now: Date.now }), (await databaseClock(db)()).toISOString());
  });
}
