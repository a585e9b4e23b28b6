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

/** As `loadOperatorKey`. Throws `not_eligible` if it is not one of `operators` either: no process would count what it signs. */
export function loadTrustedOperatorKey(
  env: Env,
  operators: readonly OperatorKey[],
  path: string,
  flag: string,
): LoadedKey {
  const key = loadOperatorKey(env, path, flag);
  if (canSign(operators, key.publicKey, new Date())) return key;
  const until = operators.filter((each) => publicKeyOf(each) === key.publicKey).map(untilOf)[0];
  const got = until == null ? `got ${key.keyId}` : `got ${key.keyId}, which counts there only until ${until}`;
  throw new CountersignError(
    'not_eligible',
    `${flag}: expected the key of an operator in the trust file, ${got}. Nothing was recorded; sign with a key that it lists, or get the trust file of the processes if they trust this key`,
  );
}

export function keyPassphrase(env: Env): string | undefined {
  return env['COUNTERSIGN_KEY_PASSPHRASE'];
}
