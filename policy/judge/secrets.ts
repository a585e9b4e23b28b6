import { addressCredentials } from '../rules/secrets/addresses';
import { placesIn } from '../rules/secrets/places';
import { privateKeys } from '../rules/secrets/private-keys';
import { scanText, WAYS } from '../rules/secrets/scan';
import { disjoint, type SecretSpan } from '../rules/secrets/secret-span';
import { findInTokens } from './broad-tokens';

/** Raised whenever another span would be found. Part of `logic_hash`. */
export const REDACTOR_REVISION = 7;

/**
 * What must not reach the model: all that the rules on secrets find, and more. Here it is taken when in doubt: a
 * placeholder costs the judge little, a leaked key costs a key. Linear in the text: the bytes are hostile.
 */
export function findSecrets(text: string): SecretSpan[] {
  const places = placesIn(text);
  const { found } = scanText(text, places);
  const broad: SecretSpan[] = [];
  findInTokens(text, places.broad, broad);
  return disjoint([...privateKeys(text), ...addressCredentials(text), ...WAYS.flatMap((way) => found[way]), ...broad]);
}
