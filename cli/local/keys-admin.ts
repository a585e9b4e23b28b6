import { openDatabase } from '../../storage/database/database';
import { createKeyRegistry } from '../../storage/keys/key-registry';
import type { KeysAdmin } from '../deps';
import type { KeyRegistry } from '../../policy/evidence/key-registry';
import { readKeyFile, writeKeyFile, type LoadedKey } from '../../signing/key-file';
import { assertPublicKey, keyIdOf, newKeyPair } from '../../signing/keys';
import { signKeyEntry, signKeyRevocation } from '../../signing/registry-entry';
import type { Env } from '../../workers/config';
import { localClient } from '../../workers/local-client';

/** Key files and the registry. Entries are signed by an operator's key file, which no server holds. */
export function keysAdmin(env: Env): KeysAdmin {
  const passphrase = env['COUNTERSIGN_KEY_PASSPHRASE'];
  const read = (path: string): LoadedKey => readKeyFile(path, passphrase === undefined ? {} : { passphrase });
  return {
    async create({ kind, subject, onBehalfOf, out, operatorKey }) {
      const key = newKeyPair();
      const operator = operatorKey === null ? null : read(operatorKey);
      const demo = operator?.demo ?? false;
      const label = { kind, subject, onBehalfOf, demo };
      // Signed before the file is written: an entry that may not be leaves no key behind.
      const entry =
        operator === null
          ? null
          : signKeyEntry({ ...label, publicKey: key.publicKey, addedAt: new Date().toISOString() }, operator);
      writeKeyFile({
        path: out,
        key,
        label,
        createdAt: new Date().toISOString(),
        ...(passphrase === undefined ? {} : { passphrase }),
      });
      if (entry !== null) await withRegistry(env, (registry) => registry.add(entry));
      return { keyId: key.keyId, publicKey: key.publicKey, file: out, registered: entry !== null };
    },
    async register({ publicKey, kind, subject, onBehalfOf, operatorKey }) {
      assertPublicKey(publicKey);
      const operator = read(operatorKey);
      const label = { kind, subject, onBehalfOf, demo: operator.demo };
      const entry = signKeyEntry({ ...label, publicKey, addedAt: new Date().toISOString() }, operator);
      await withRegistry(env, (registry) => registry.add(entry));
      return { keyId: keyIdOf(publicKey) };
    },
    list: () => withRegistry(env, (registry) => registry.list()),
    async revoke({ keyId, reason, operatorKey }) {
      const envelope = signKeyRevocation({ keyId, reason, revokedAt: new Date().toISOString() }, read(operatorKey));
      await withRegistry(env, (registry) => registry.revoke(envelope));
    },
  };
}

async function withRegistry<T>(env: Env, work: (registry: KeyRegistry) => Promise<T>): Promise<T> {
  const { operatorDatabaseUrl, operators } = localClient(env);
  const db = openDatabase({ url: operatorDatabaseUrl, applicationName: 'countersign-keys', max: 1 });
  try {
    return await work(createKeyRegistry({ db, trustedOperators: operators, now: Date.now }));
  } finally {
    await db.close();
  }
}
