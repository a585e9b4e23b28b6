import { CountersignError } from '../client/errors';
import { readKeyFile, type LoadedKey } from '../signing/key-file';
import type { Env } from '../workers/config';
import { canSign, publicKeyOf, untilOf, type OperatorKey } from '../signing/operator-key';

/** Reads a key file. If it is encrypted, COUNTERSIGN_KEY_PASSPHRASE has the passphrase. */
export function loadKey(env: Env, path: string): LoadedKey {
  const passphrase = keyPassphrase(env);
  return readKeyFile(path, passphrase === undefined ? {} : { passphrase });
}

/** As `loadKey`. Throws `not_eligible` if it is not an operator key; `flag` names the option in the message. */
export function loadOperatorKey(env: Env, path: string, flag: string): LoadedKey {
  const key = loadKey(env, path);
  if (key.kind === 'operator') return key;
  throw new CountersignError('not_eligible', `${flag}: expected an operator key, got a key of kind ${key.kind}`);
}

/**
 * As `loadOperatorKey`. Throws `not_eligible` if it is not one of `operators` either, or if its time has ended: no process would count what it
 * signs.
 */
export function loadTrustedOperatorKey(
  env: Env,
  operators: readonly OperatorKey[],
  path: string,
  flag: string,
): LoadedKey {
  const key = loadOperatorKey(env, path, flag);
  assertCanSign(operators, key, flag);
  return key;
}

/** Throws `not_eligible` unless what this key signs counts. */
export function assertCanSign(operators: readonly OperatorKey[], key: LoadedKey, flag: string): void {
  if (canSign(operators, key.publicKey, new Date())) return;
  const listed = operators.find((operator) => publicKeyOf(operator) === key.publicKey);
  throw new CountersignError(
    'not_eligible',
    listed === undefined
      ? `${flag}: expected the key of an operator in the trust file, got ${key.keyId}. Nothing was recorded; sign with a key that it lists, or get the trust file of the processes if they trust this key`
      : `${flag}: by the trust file, the key ${key.keyId} counts only until ${untilOf(listed)}. Nothing was recorded; sign with the key of another operator`,
  );
}

export function keyPassphrase(env: Env): string | undefined {
  return env['COUNTERSIGN_KEY_PASSPHRASE'];
}
