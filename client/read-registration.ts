import type { KeyRegistration } from '../policy/evidence/bundle';
import type { RegisteredKey } from '../policy/evidence/key-registry';
import { registeredKey } from '../signing/verify-review/registry-entries';
import { CheckFailed } from '../signing/verify-review/outcome';
import { CountersignError } from './errors';
import type { ReceiptTrust } from './receipt';

/** The registry entry of the key `keyId`. Throws `not_verified` if no trusted operator signed it, or if it is of another key. */
export function readRegistration(
  keyId: string,
  registration: KeyRegistration,
  trust: ReceiptTrust | null,
): RegisteredKey {
  const refuse = (why: string): CountersignError =>
    new CountersignError('not_verified', `The registry entry of key ${keyId} does not verify: ${why}`);
  try {
    const key = registeredKey(registration, trust?.operators ?? [], new Date().toISOString());
    if (key.keyId !== keyId) throw refuse(`it is of key ${key.keyId}`);
    return key;
  } catch (error) {
    if (error instanceof CheckFailed) throw refuse(error.message);
    throw error;
  }
}
